/* SPDX-License-Identifier: Apache-2.0 */
/* Any name is one or none of those that the kubelet gives to logs; its parts lie in it. */
#include "k8s/pod_log_name.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_part(struct strview whole, struct strview part)
{
	if (part.len == 0 || part.text < whole.text ||
	    part.text + part.len > whole.text + whole.len)
		abort();
}

static void check_dir(struct strview whole, const struct pod_log_dir *dir)
{
	check_part(whole, dir->namespace);
	check_part(whole, dir->pod);
	check_part(whole, dir->uid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct strview name = { (const char *)data, len };
	struct pod_log_dir dir;
	struct pod_log_link link;
	struct pod_log_file file;

	if (pod_log_dir_parse(name, &dir))
		check_dir(name, &dir);
	if (pod_log_link_parse(name, &link)) {
		check_dir(name, &(struct pod_log_dir){ link.namespace, link.pod, link.container });
		check_part(name, link.id);
	}
	if (pod_log_file_parse(name, &file)) {
		check_dir(name, &file.dir);
		check_part(name, file.container);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_sources.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "config/option_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KUBELET_PORT 10250
#define TEXT_MAX_BYTES 4096

static int add(const struct options_input *input, const char *name, const char *value,
	       struct entry_list *entries)
{
	const struct option *option = option_find(name, input->command);

	return option ? entry_list_add(entries, SOURCE_CLUSTER, option, name, value) : 0;
}

/* Adds a file of the service account, unless the pod's specification says that it is not
 * mounted. */
static int add_account_file(const struct options_input *input, const char *name, const char *file,
			    struct entry_list *entries)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(TEXT_MAX_BYTES);

	if (!input->service_account_dir)
		return 0;
	strbuf_appendf(&path, "%s/%s", input->service_account_dir, file);
	if (access(strbuf_str(&path), R_OK) < 0)
		return 0;
	return add(input, name, strbuf_str(&path), entries);
}

/* Adds the URL of the kubelet. It listens on the node's address, which the pod's manifest puts into
 * HOST_IP or NODE_IP. */
static int add_kubelet_url(const struct options_input *input, struct entry_list *entries)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(TEXT_MAX_BYTES);
	const char *host = getenv("HOST_IP");

	if (!host || !*host)
		host = getenv("NODE_IP");
	if (!host || !*host)
		return 0;
	strbuf_appendf(&url, strchr(host, ':') ? "https://[%s]:%d" : "https://%s:%d", host,
		       KUBELET_PORT);
	return add(input, "kubelet-url", strbuf_str(&url), entries);
}

int source_read_cluster(const struct options_input *input, struct entry_list *entries)
{
	const char *cluster = getenv("KUBERNETES_SERVICE_HOST");

	if (!cluster || !*cluster)
		return 0;
	int r = add_kubelet_url(input, entries);
	if (r == 0)
		r = add_account_file(input, "kubelet-ca-file", "ca.crt", entries);
	if (r == 0)
		r = add_account_file(input, "kubelet-token-file", "token", entries);
	return r;
}

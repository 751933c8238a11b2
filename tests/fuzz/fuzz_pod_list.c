/* SPDX-License-Identifier: Apache-2.0 */
/* Any body is refused or gives pods whose strings are there and no longer than promised. */
#include "k8s/pod_list.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_text(const char *text)
{
	if (strlen(text) > POD_NAME_MAX)
		abort();
}

static void check_pod(const struct pod *pod)
{
	check_text(pod->name);
	check_text(pod->namespace);
	check_text(pod->uid);
	check_text(pod->node);
	check_text(pod->workload_kind);
	check_text(pod->workload_name);
	check_text(pod->service_namespace);
	check_text(pod->service_name);
	check_text(pod->start_time);
	for (size_t i = 0; i < pod->nr_containers; i++) {
		check_text(pod->containers[i].name);
		check_text(pod->containers[i].id);
		check_text(pod->containers[i].image_name);
		check_text(pod->containers[i].image_tag);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct pod_list_opts opts = { .max_bytes = LIST_MAX_BYTES };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	if (pod_list_parse((const char *)data, len, &opts, &list) < 0)
		return 0;
	for (size_t i = 0; i < list->nr_pods; i++)
		check_pod(&list->pods[i]);
	return 0;
}

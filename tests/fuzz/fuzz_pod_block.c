/* SPDX-License-Identifier: Apache-2.0 */
/* The reply of the kubelet's worker: it is refused, or a pod list as one that was parsed, which is
 * written as it was read. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "k8s/kubelet_answer.h"
#include "k8s/pod_block.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_text(const char *text, size_t max)
{
	check(strlen(text) <= max && utf8_is_valid(text));
}

static void check_pod(const struct pod *pod)
{
	check(pod->name[0] && pod->namespace[0] && pod->uid[0]);
	check_text(pod->name, POD_NAME_MAX);
	check_text(pod->service_name, POD_NAME_MAX);
	check(pod->nr_labels <= POD_LABELS_MAX && pod->nr_attributes <= POD_ATTRIBUTES_MAX &&
	      pod->nr_containers <= POD_CONTAINERS_MAX);
	for (size_t i = 0; i < pod->nr_labels; i++) {
		check_text(pod->labels[i].key, POD_KEY_MAX);
		check_text(pod->labels[i].value, POD_VALUE_MAX);
	}
	for (size_t i = 0; i < pod->nr_containers; i++) {
		check_text(pod->containers[i].image_tag, POD_NAME_MAX);
		check(strlen(pod->containers[i].id) == 64);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf again = strbuf_with_max(2 * LIST_MAX_BYTES);
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;
	struct flat_reader reader = flat_reader(data, len);
	struct kubelet_answer answer;

	if (kubelet_answer_read(&reader, &answer) < 0)
		return 0;
	const char *pods = reader.at;
	if (pod_block_read(&reader, LIST_MAX_BYTES, &list) < 0)
		return 0;
	for (size_t i = 0; i < list->nr_pods; i++)
		check_pod(&list->pods[i]);
	pod_block_append(&again, list);
	check(strbuf_error(&again) == 0);
	check(again.len == len - (size_t)(pods - (const char *)data));
	check(memcmp(again.data, pods, again.len) == 0);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any body is refused or gives pods whose texts are there and no longer than promised; the same
 * ones when it comes in pieces, and copies of them are alike. */
#include "k8s/pod_list_reader.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES ((size_t)1 << 20)
#define PIECE_BYTES 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

static void check_text(const char *text)
{
	check(strlen(text) <= POD_NAME_MAX);
}

static void check_attributes(const struct pod_attribute *attributes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		check(strlen(attributes[i].key) <= POD_KEY_MAX);
		check(strlen(attributes[i].value) <= POD_VALUE_MAX);
	}
}

static void check_containers(const struct pod *pod)
{
	check(pod->nr_containers <= POD_CONTAINERS_MAX);
	for (size_t i = 0; i < pod->nr_containers; i++) {
		check_text(pod->containers[i].name);
		check(strlen(pod->containers[i].id) == 64);
		check_text(pod->containers[i].image_name);
		check_text(pod->containers[i].image_tag);
	}
}

static void check_pod(const struct pod *pod)
{
	struct arena arena = { 0 };
	struct pod copy;

	check_text(pod->name);
	check_text(pod->namespace);
	check_text(pod->uid);
	check_text(pod->node);
	check_text(pod->start_time);
	check_text(pod->workload_kind);
	check_text(pod->workload_name);
	check_text(pod->service_namespace);
	check_text(pod->service_name);
	check(pod->nr_labels <= POD_LABELS_MAX && pod->nr_attributes <= POD_ATTRIBUTES_MAX);
	check_attributes(pod->labels, pod->nr_labels);
	check_attributes(pod->attributes, pod->nr_attributes);
	check_containers(pod);
	check(pod_copy(&arena, pod, &copy) == 0 && pod_is_equal(pod, &copy));
	arena_done(&arena);
}

static int read_in_pieces(const uint8_t *data, size_t len, size_t piece_bytes,
			  const struct pod_list_opts *opts, struct pod_list **ret_list)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;

	check(pod_list_reader_new(opts, &reader) == 0);
	for (size_t at = 0; at < len; at += piece_bytes) {
		int r = pod_list_reader_feed(reader, data + at,
					     len - at < piece_bytes ? len - at : piece_bytes);
		if (r < 0)
			return r;
	}
	return pod_list_reader_finish(reader, ret_list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const keys[] = { "app*" };
	static const struct pod_list_opts opts = { LIST_MAX_BYTES, keys, 1, keys, 1 };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;
	_cleanup_(pod_list_freep) struct pod_list *again = NULL;

	int r = read_in_pieces(data, len, SIZE_MAX, &opts, &list);
	check(read_in_pieces(data, len, PIECE_BYTES, &opts, &again) == r);
	if (r < 0)
		return 0;
	check(list->nr_pods == again->nr_pods && list->nr_skipped == again->nr_skipped);
	for (size_t i = 0; i < list->nr_pods; i++) {
		check_pod(&list->pods[i]);
		check(pod_is_equal(&list->pods[i], &again->pods[i]));
	}
	return 0;
}

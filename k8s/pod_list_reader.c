/* SPDX-License-Identifier: Apache-2.0 */
/* Text in, pods out: json_items.h cuts the list into items, pod_reader.h reads each. */
#include "k8s/pod_list_reader.h"

#include "base/array.h"
#include "k8s/json_items.h"
#include "k8s/pod_reader.h"

#include <stdlib.h>
#include <string.h>

struct pod_list_reader {
	struct pod_list_opts opts;
	struct json_items items;
	struct pod_reader reader;
	struct pod_list *list; /* owned; its pods come last */
	struct pod *pods; /* owned; list->nr_pods of them so far */
	size_t cap_pods;
};

static int take_item(const char *json, size_t len, void *data)
{
	struct pod_list_reader *reader = data;
	struct pod_list *list = reader->list;

	int r = array_grow(reader->pods, reader->cap_pods, list->nr_pods + 1,
			   reader->opts.max_bytes / sizeof(*reader->pods));
	if (r == 0)
		r = pod_reader_read(&reader->reader, json, len, &reader->pods[list->nr_pods]);
	if (r < 0)
		return r;
	list->nr_pods += r == 1;
	list->nr_skipped += r == 0;
	return 0;
}

int pod_list_reader_new(const struct pod_list_opts *opts, struct pod_list_reader **ret_reader)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = calloc(1,
										 sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	const struct json_items_opts items_opts = {
		.item_max_bytes = POD_ITEM_MAX_BYTES,
		.on_item = take_item,
		.data = reader,
	};
	json_items_init(&reader->items, &items_opts);
	reader->opts = *opts;
	reader->list = calloc(1, sizeof(*reader->list));
	if (!reader->list)
		return -ENOMEM;
	reader->list->arena.max_bytes = opts->max_bytes;
	reader->reader = (struct pod_reader){ .opts = &reader->opts, .list = reader->list };
	*ret_reader = take_ptr(reader);
	return 0;
}

void pod_list_reader_free(struct pod_list_reader *reader)
{
	if (!reader)
		return;
	json_items_done(&reader->items);
	free(reader->pods);
	pod_list_free(reader->list);
	free(reader);
}

int pod_list_reader_feed(struct pod_list_reader *reader, const void *bytes, size_t len)
{
	return json_items_feed(&reader->items, bytes, len);
}

/* The kubelet says PodList; `kubectl get pods -o json` says List. */
static bool is_pod_list(const char *kind)
{
	return strcmp(kind, "PodList") == 0 || strcmp(kind, "List") == 0;
}

int pod_list_reader_finish(struct pod_list_reader *reader, struct pod_list **ret_list)
{
	struct pod_list *list = reader->list;
	size_t bytes = list->nr_pods * sizeof(*list->pods);

	int r = json_items_finish(&reader->items);
	if (r < 0)
		return r;
	if (!is_pod_list(reader->items.kind.text))
		return -EBADMSG;
	list->pods = arena_alloc(&list->arena, bytes);
	if (!list->pods)
		return arena_error(&list->arena);
	if (bytes)
		memcpy(list->pods, reader->pods, bytes);
	list->nr_skipped += reader->items.nr_oversized;
	*ret_list = take_ptr(reader->list);
	return 0;
}

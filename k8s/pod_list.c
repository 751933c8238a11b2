/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that are texts are listed once, by their offsets. */
#include "k8s/pod_list.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const size_t pod_texts[] = {
	offsetof(struct pod, name),
	offsetof(struct pod, namespace),
	offsetof(struct pod, uid),
	offsetof(struct pod, node),
	offsetof(struct pod, start_time),
	offsetof(struct pod, workload_kind),
	offsetof(struct pod, workload_name),
	offsetof(struct pod, service_name),
	offsetof(struct pod, service_namespace),
};

static const size_t container_texts[] = {
	offsetof(struct pod_container, name),
	offsetof(struct pod_container, id),
	offsetof(struct pod_container, image_name),
	offsetof(struct pod_container, image_tag),
};

static const char **text_at(const void *object, size_t offset)
{
	return (const char **)(void *)((char *)object + offset);
}

static int copy_text(struct arena *arena, const char **text)
{
	const char *copy = arena_strndup(arena, *text, strlen(*text));

	if (!copy)
		return -ENOMEM;
	*text = copy;
	return 0;
}

static int copy_texts(struct arena *arena, void *object, const size_t offsets[], size_t nr)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr; i++)
		r = copy_text(arena, text_at(object, offsets[i]));
	return r;
}

static int copy_attributes(struct arena *arena, size_t nr, struct pod_attribute **attributes)
{
	struct pod_attribute *copy = arena_alloc(arena, nr * sizeof(*copy));
	int r = 0;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < nr; i++) {
		copy[i] = (*attributes)[i];
		r = copy_text(arena, &copy[i].key);
		if (r == 0)
			r = copy_text(arena, &copy[i].value);
	}
	*attributes = copy;
	return r;
}

int pod_copy(struct arena *arena, const struct pod *pod, struct pod *ret_copy)
{
	struct pod copy = *pod;

	copy.containers = NULL;
	copy.nr_containers = 0;
	int r = copy_texts(arena, &copy, pod_texts, array_len(pod_texts));
	if (r == 0)
		r = copy_attributes(arena, copy.nr_labels, &copy.labels);
	if (r == 0)
		r = copy_attributes(arena, copy.nr_attributes, &copy.attributes);
	if (r < 0)
		return r;
	*ret_copy = copy;
	return 0;
}

int pod_container_copy(struct arena *arena, const struct pod_container *container,
		       struct pod_container *ret_copy)
{
	struct pod_container copy = *container;

	int r = copy_texts(arena, &copy, container_texts, array_len(container_texts));
	if (r < 0)
		return r;
	*ret_copy = copy;
	return 0;
}

static bool texts_are_equal(const void *a, const void *b, const size_t offsets[], size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(*text_at(a, offsets[i]), *text_at(b, offsets[i])) != 0)
			return false;
	return true;
}

static bool attributes_are_equal(const struct pod_attribute *a, const struct pod_attribute *b,
				 size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
			return false;
	return true;
}

bool pod_is_equal(const struct pod *a, const struct pod *b)
{
	return a->source == b->source && a->is_opted_out == b->is_opted_out &&
	       a->has_all_ids == b->has_all_ids && a->nr_labels == b->nr_labels &&
	       a->nr_attributes == b->nr_attributes &&
	       texts_are_equal(a, b, pod_texts, array_len(pod_texts)) &&
	       attributes_are_equal(a->labels, b->labels, a->nr_labels) &&
	       attributes_are_equal(a->attributes, b->attributes, a->nr_attributes);
}

bool pod_container_is_equal(const struct pod_container *a, const struct pod_container *b)
{
	return a->restart_count == b->restart_count &&
	       texts_are_equal(a, b, container_texts, array_len(container_texts));
}

void pod_list_free(struct pod_list *list)
{
	if (!list)
		return;
	arena_done(&list->arena);
	free(list);
}

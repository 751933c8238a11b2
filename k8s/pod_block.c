/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_block.h"

#include "base/hex.h"
#include "base/utf8.h"

#include <string.h>

#define CONTAINER_ID_HEX 64
#define POD_MIN_BYTES 128 /* numbers and lengths alone */

static void append_attributes(struct strbuf *out, const struct pod_attribute *attributes, size_t nr)
{
	flat_put_number(out, nr);
	for (size_t i = 0; i < nr; i++) {
		flat_put_text(out, attributes[i].key);
		flat_put_text(out, attributes[i].value);
	}
}

static void append_container(struct strbuf *out, const struct pod_container *container)
{
	flat_put_text(out, container->name);
	flat_put_text(out, container->id);
	flat_put_text(out, container->image_name);
	flat_put_text(out, container->image_tag);
	flat_put_number(out, container->restart_count);
}

static void append_pod(struct strbuf *out, const struct pod *pod)
{
	flat_put_text(out, pod->name);
	flat_put_text(out, pod->namespace);
	flat_put_text(out, pod->uid);
	flat_put_text(out, pod->node);
	flat_put_text(out, pod->start_time);
	flat_put_text(out, pod->workload_kind);
	flat_put_text(out, pod->workload_name);
	flat_put_text(out, pod->service_name);
	flat_put_text(out, pod->service_namespace);
	flat_put_number(out, pod->is_opted_out);
	flat_put_number(out, pod->has_all_ids);
	append_attributes(out, pod->labels, pod->nr_labels);
	append_attributes(out, pod->attributes, pod->nr_attributes);
	flat_put_number(out, pod->nr_containers);
	for (size_t i = 0; i < pod->nr_containers; i++)
		append_container(out, &pod->containers[i]);
}

void pod_block_append(struct strbuf *out, const struct pod_list *list)
{
	flat_put_number(out, list->nr_skipped);
	flat_put_number(out, list->nr_left_out);
	flat_put_number(out, list->nr_pods);
	for (size_t i = 0; i < list->nr_pods; i++)
		append_pod(out, &list->pods[i]);
}

/* A list that is being read. The reader remembers errors in the bytes. */
struct intake {
	struct flat_reader *reader;
	struct arena *arena;
	int error; /* of the arena, the first one */
};

static void *keep(struct intake *intake, void *memory)
{
	if (!memory && intake->error == 0)
		intake->error = arena_error(intake->arena);
	return memory;
}

/* Allocates `nr` elements; returns NULL without memory or after an error. */
static void *take_array(struct intake *intake, size_t nr, size_t elem_bytes)
{
	if (intake->reader->is_bad || intake->error < 0)
		return NULL;
	return keep(intake, arena_alloc(intake->arena, nr * elem_bytes));
}

static const char *take_text(struct intake *intake, size_t max_len)
{
	const char *text = flat_take_text(intake->reader, max_len);

	if (!utf8_is_valid(text)) {
		intake->reader->is_bad = true;
		return "";
	}
	const char *copy = keep(intake, arena_strndup(intake->arena, text, strlen(text)));
	return copy ? copy : "";
}

static const char *take_name(struct intake *intake)
{
	return take_text(intake, POD_NAME_MAX);
}

/* Takes a name that must not be empty. */
static const char *take_required(struct intake *intake)
{
	const char *name = take_name(intake);

	intake->reader->is_bad |= !name[0];
	return name;
}

static struct pod_attribute *take_attributes(struct intake *intake, size_t max, size_t *ret_nr)
{
	size_t nr = flat_take_number(intake->reader, max);
	struct pod_attribute *attributes = take_array(intake, nr, sizeof(*attributes));

	*ret_nr = attributes ? nr : 0;
	for (size_t i = 0; i < *ret_nr; i++)
		attributes[i] = (struct pod_attribute){
			.key = take_text(intake, POD_KEY_MAX),
			.value = take_text(intake, POD_VALUE_MAX),
		};
	return attributes;
}

static const char *take_id(struct intake *intake)
{
	const char *id = take_name(intake);

	intake->reader->is_bad |= !hex_is(id, CONTAINER_ID_HEX);
	return id;
}

static void take_containers(struct intake *intake, struct pod *pod)
{
	size_t nr = flat_take_number(intake->reader, POD_CONTAINERS_MAX);

	pod->containers = take_array(intake, nr, sizeof(*pod->containers));
	pod->nr_containers = pod->containers ? nr : 0;
	for (size_t i = 0; i < pod->nr_containers; i++)
		pod->containers[i] = (struct pod_container){
			.name = take_name(intake),
			.id = take_id(intake),
			.image_name = take_name(intake),
			.image_tag = take_name(intake),
			.restart_count = (uint32_t)flat_take_number(intake->reader, UINT32_MAX),
		};
}

static void take_pod(struct intake *intake, struct pod *ret_pod)
{
	struct pod pod = {
		.source = POD_FROM_KUBELET,
		.name = take_required(intake),
		.namespace = take_required(intake),
		.uid = take_required(intake),
		.node = take_name(intake),
		.start_time = take_name(intake),
		.workload_kind = take_name(intake),
		.workload_name = take_name(intake),
		.service_name = take_name(intake),
		.service_namespace = take_name(intake),
		.is_opted_out = flat_take_bool(intake->reader),
		.has_all_ids = flat_take_bool(intake->reader),
	};

	pod.labels = take_attributes(intake, POD_LABELS_MAX, &pod.nr_labels);
	pod.attributes = take_attributes(intake, POD_ATTRIBUTES_MAX, &pod.nr_attributes);
	take_containers(intake, &pod);
	*ret_pod = pod;
}

static int take_pods(struct intake *intake, struct pod_list *list)
{
	struct flat_reader *reader = intake->reader;

	list->nr_skipped = flat_take_number(reader, SIZE_MAX);
	list->nr_left_out = flat_take_number(reader, SIZE_MAX);
	size_t nr = flat_take_number(reader, reader->len / POD_MIN_BYTES);
	list->pods = take_array(intake, nr, sizeof(*list->pods));
	for (size_t i = 0; i < nr && !reader->is_bad && intake->error == 0; i++)
		take_pod(intake, &list->pods[list->nr_pods++]);
	if (intake->error < 0)
		return intake->error;
	return flat_reader_finish(reader);
}

int pod_block_read(struct flat_reader *reader, size_t max_bytes, struct pod_list **ret_list)
{
	_cleanup_(pod_list_freep) struct pod_list *list = calloc(1, sizeof(*list));

	if (!list)
		return -ENOMEM;
	list->arena.max_bytes = max_bytes;
	struct intake intake = { .reader = reader, .arena = &list->arena };
	int r = take_pods(&intake, list);
	if (r < 0)
		return r;
	*ret_list = take_ptr(list);
	return 0;
}

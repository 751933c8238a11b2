/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows cJSON.
 *
 * A tree takes 6 to 7 times its text, and hostile text ("[0,0,0,…") much more, so cJSON takes its nodes from
 * one block of memory, one behind the other, and the next pod's tree takes the same block. When it is too small
 * a larger one is made and the pod read again, up to TREE_MAX_BYTES. cJSON's allocator is process-wide; which
 * block it takes from is a thread's own matter, set while it parses.
 *
 * All that is read from the tree may be missing or of another type: find() answers NULL on NULL, and text()
 * answers "" for what is no string. The first copy into the list's arena that fails is remembered by the reader,
 * so that it is asked for once, at a pod's end. */
#include "k8s/pod_reader.h"

#include "base/utf8.h"
#include "k8s/attribute_keys.h"
#include "k8s/image_name.h"
#include "k8s/workload.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_ID_HEX 64
#define TREE_FIRST_BYTES ((size_t)256 << 10)
#define TREE_MAX_BYTES (8 * POD_ITEM_MAX_BYTES)

static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static _Thread_local struct tree_memory *present_memory; /* borrowed, while parse_once() runs */

static void *allocate_node(size_t len)
{
	struct tree_memory *memory = present_memory;
	size_t start = (memory->used + _Alignof(max_align_t) - 1) & ~(_Alignof(max_align_t) - 1);

	if (start > memory->cap || len > memory->cap - start) {
		memory->is_full = true;
		return NULL;
	}
	memory->used = start + len;
	return memory->block + start;
}

static void keep_node(void *node)
{
	(void)node;
}

static void set_hooks(void)
{
	cJSON_Hooks hooks = { .malloc_fn = allocate_node, .free_fn = keep_node };

	cJSON_InitHooks(&hooks);
}

/* Makes an empty block, larger than the present one. Errors: -ENOSPC, -ENOMEM. */
static int grow_memory(struct tree_memory *memory)
{
	size_t cap = memory->cap ? memory->cap * 2 : TREE_FIRST_BYTES;

	if (cap > TREE_MAX_BYTES)
		return -ENOSPC;
	free(memory->block);
	*memory = (struct tree_memory){ .block = malloc(cap) };
	if (!memory->block)
		return -ENOMEM;
	memory->cap = cap;
	return 0;
}

static const cJSON *parse_once(struct tree_memory *memory, const char *text, size_t len)
{
	const char *end = NULL;

	memory->used = 0;
	memory->is_full = false;
	present_memory = memory;
	const cJSON *root = cJSON_ParseWithLengthOpts(text, len, &end, false);
	present_memory = NULL;
	return root && end == text + len ? root : NULL;
}

/* Parses the text of an item. The tree is valid until the next one.
 * Errors: -EBADMSG, -ENOMEM, -ENOSPC when it is too large. */
static int parse_tree(struct tree_memory *memory, const char *text, size_t len,
		      const cJSON **ret_root)
{
	const cJSON *root = parse_once(memory, text, len);

	while (memory->is_full) {
		int r = grow_memory(memory);

		if (r < 0)
			return r;
		root = parse_once(memory, text, len);
	}
	if (!root)
		return -EBADMSG;
	*ret_root = root;
	return 0;
}

static const cJSON *find(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text(const cJSON *object, const char *name)
{
	const char *value = cJSON_GetStringValue(find(object, name));

	return value ? value : "";
}

static void *keep_array(struct pod_reader *reader, size_t nr, size_t elem_bytes)
{
	struct arena *arena = &reader->list->arena;
	void *array = arena_alloc(arena, nr * elem_bytes);

	if (!array && reader->error == 0)
		reader->error = arena->is_full ? -ENOSPC : -ENOMEM;
	return array;
}

/* Copies the longest beginning of a piece of a C string that is valid UTF-8 and has at most `max` bytes. */
static const char *keep_piece(struct pod_reader *reader, const char *value, size_t len, size_t max)
{
	struct arena *arena = &reader->list->arena;
	size_t kept = 0;

	for (size_t step; kept < len; kept += step) {
		step = utf8_char_len(value + kept);
		if (step == 0 || step > len - kept || kept + step > max)
			break;
	}

	const char *copy = arena_strndup(arena, value, kept);
	if (!copy && reader->error == 0)
		reader->error = arena->is_full ? -ENOSPC : -ENOMEM;
	return copy ? copy : "";
}

static const char *keep_name(struct pod_reader *reader, const char *name)
{
	return keep_piece(reader, name, strlen(name), POD_NAME_MAX);
}

static struct pod_attribute keep_attribute(struct pod_reader *reader, const char *key,
					   const char *value)
{
	return (struct pod_attribute){
		.key = keep_piece(reader, key, strlen(key), POD_KEY_MAX),
		.value = keep_piece(reader, value, strlen(value), POD_VALUE_MAX),
	};
}

static void read_labels(struct pod_reader *reader, const cJSON *metadata, struct pod *pod)
{
	const cJSON *labels = find(metadata, "labels");
	size_t nr = (size_t)cJSON_GetArraySize(labels);
	const cJSON *label;

	if (nr > POD_LABELS_MAX) {
		reader->list->nr_left_out += nr - POD_LABELS_MAX;
		nr = POD_LABELS_MAX;
	}
	pod->labels = keep_array(reader, nr, sizeof(*pod->labels));
	if (!pod->labels)
		return;
	cJSON_ArrayForEach(label, labels)
	{
		if (pod->nr_labels == nr)
			return;
		if (label->string && cJSON_IsString(label))
			pod->labels[pod->nr_labels++] = keep_attribute(reader, label->string,
								       label->valuestring);
	}
}

static void add_attribute(struct pod_reader *reader, const char *prefix, const char *key,
			  const char *value, struct pod *pod)
{
	char name[POD_KEY_MAX + 1];

	if (pod->nr_attributes == POD_ATTRIBUTES_MAX) {
		reader->list->nr_left_out++;
		return;
	}
	snprintf(name, sizeof(name), "%s%s", prefix, key);
	pod->attributes[pod->nr_attributes++] = keep_attribute(reader, name, value);
}

/* What the labels and annotations of `metadata` give, into pod->attributes. */
static void add_attributes(struct pod_reader *reader, const cJSON *metadata, struct pod *pod)
{
	const struct pod_list_opts *opts = reader->opts;
	const cJSON *entry;

	cJSON_ArrayForEach(entry, find(metadata, "labels"))
	{
		if (entry->string && cJSON_IsString(entry) &&
		    attribute_key_is_listed(opts->label_keys, opts->nr_label_keys, entry->string))
			add_attribute(reader, "k8s.pod.label.", entry->string, entry->valuestring,
				      pod);
	}
	cJSON_ArrayForEach(entry, find(metadata, "annotations"))
	{
		if (!entry->string || !cJSON_IsString(entry))
			continue;

		const char *key = attribute_key_of_annotation(entry->string);
		if (key)
			add_attribute(reader, "", key, entry->valuestring, pod);
		if (attribute_key_is_listed(opts->annotation_keys, opts->nr_annotation_keys,
					    entry->string))
			add_attribute(reader, "k8s.pod.annotation.", entry->string,
				      entry->valuestring, pod);
	}
}

static void read_attributes(struct pod_reader *reader, const cJSON *metadata, struct pod *pod)
{
	struct pod_attribute attributes[POD_ATTRIBUTES_MAX];
	size_t bytes;

	pod->attributes = attributes;
	add_attributes(reader, metadata, pod);
	bytes = pod->nr_attributes * sizeof(*attributes);
	pod->attributes = keep_array(reader, 1, bytes);
	if (pod->attributes)
		memcpy(pod->attributes, attributes, bytes);
}

/* The hex digits of "containerd://<64 hex>", or NULL for any other text. */
static const char *bare_id(const char *id)
{
	const char *hex = strstr(id, "://");

	if (!hex)
		return NULL;
	hex += strlen("://");
	return strspn(hex, "0123456789abcdef") == CONTAINER_ID_HEX && !hex[CONTAINER_ID_HEX] ? hex
											     : NULL;
}

static const struct container_kind {
	const char *statuses;
	const char *specs;
} container_kinds[] = {
	{ "containerStatuses", "containers" },
	{ "initContainerStatuses", "initContainers" },
	{ "ephemeralContainerStatuses", "ephemeralContainers" },
};

/* The image that the spec asks for. */
static const char *find_spec_image(const cJSON *specs, const char *name)
{
	const cJSON *spec;
	size_t nr = 0;

	cJSON_ArrayForEach(spec, specs)
	{
		if (strcmp(text(spec, "name"), name) == 0)
			return text(spec, "image");
		if (++nr == POD_CONTAINERS_MAX)
			break;
	}
	return "";
}

static const char *find_image(const cJSON *status, const cJSON *specs)
{
	const char *image = text(status, "image");

	if (image[0] && !image_name_is_id(image))
		return image;
	image = find_spec_image(specs, text(status, "name"));
	return image_name_is_id(image) ? "" : image;
}

static uint32_t read_count(const cJSON *object, const char *name)
{
	const cJSON *number = find(object, name);

	if (!cJSON_IsNumber(number) || !(number->valuedouble >= 0))
		return 0;
	return number->valuedouble < UINT32_MAX ? (uint32_t)number->valuedouble : UINT32_MAX;
}

static void add_container(struct pod_reader *reader, const struct pod_container *container,
			  const char *hex, struct pod *pod)
{
	struct pod_container *added = &pod->containers[pod->nr_containers++];

	*added = *container;
	added->id = keep_name(reader, hex);
}

/* Adds a status's containers: the present one and the one before. Returns whether it has the first. */
static bool read_status(struct pod_reader *reader, const cJSON *status, const cJSON *specs,
			struct pod *pod)
{
	const cJSON *last = find(find(status, "lastState"), "terminated");
	const char *id = bare_id(text(status, "containerID"));
	const char *last_id = bare_id(text(last, "containerID"));
	struct image_name image = image_name_split(find_image(status, specs));

	/* One that waits to be restarted is its own last one. */
	if (id && last_id && strcmp(id, last_id) == 0)
		last_id = NULL;
	if (!id && !last_id)
		return false;

	struct pod_container container = {
		.name = keep_name(reader, text(status, "name")),
		.image_name = keep_piece(reader, image.name, image.name_len, POD_NAME_MAX),
		.image_tag = keep_piece(reader, image.tag, image.tag_len, POD_NAME_MAX),
		.restart_count = read_count(status, "restartCount"),
	};
	if (id)
		add_container(reader, &container, id, pod);
	container.restart_count -= container.restart_count > 0;
	if (last_id)
		add_container(reader, &container, last_id, pod);
	return id;
}

/* Reads statuses until the pod has all it may have. Returns how many of them have their ID. */
static size_t read_statuses(struct pod_reader *reader, const cJSON *statuses, const cJSON *specs,
			    struct pod *pod)
{
	const cJSON *status;
	size_t nr_with_id = 0;

	cJSON_ArrayForEach(status, statuses)
	{
		if (pod->nr_containers + 2 > POD_CONTAINERS_MAX)
			reader->list->nr_left_out++;
		else
			nr_with_id += read_status(reader, status, specs, pod);
	}
	return nr_with_id;
}

static void read_containers(struct pod_reader *reader, const cJSON *item, struct pod *pod)
{
	const cJSON *status = find(item, "status");
	const cJSON *spec = find(item, "spec");
	size_t nr_statuses = 0, nr_specs = 0, nr_with_id = 0;

	for (size_t i = 0; i < array_len(container_kinds); i++) {
		nr_statuses += (size_t)cJSON_GetArraySize(
			find(status, container_kinds[i].statuses));
		nr_specs += (size_t)cJSON_GetArraySize(find(spec, container_kinds[i].specs));
	}

	size_t cap = nr_statuses < POD_CONTAINERS_MAX / 2 ? nr_statuses * 2 : POD_CONTAINERS_MAX;
	pod->containers = keep_array(reader, cap, sizeof(*pod->containers));
	if (!pod->containers)
		return;
	for (size_t i = 0; i < array_len(container_kinds); i++)
		nr_with_id += read_statuses(reader, find(status, container_kinds[i].statuses),
					    find(spec, container_kinds[i].specs), pod);
	pod->has_all_ids = nr_with_id > 0 && nr_with_id >= nr_specs;
}

/* The ownerReference that says controller: true, or NULL. */
static const cJSON *find_controller(const cJSON *metadata)
{
	const cJSON *owner;

	cJSON_ArrayForEach(owner, find(metadata, "ownerReferences"))
	{
		if (cJSON_IsTrue(find(owner, "controller")))
			return owner;
	}
	return NULL;
}

static const char *keep_workload_text(struct pod_reader *reader, struct workload_text text)
{
	return keep_piece(reader, text.text, text.len, POD_NAME_MAX);
}

static void read_workload(struct pod_reader *reader, const cJSON *metadata, struct pod *pod)
{
	const cJSON *labels = find(metadata, "labels");
	const cJSON *annotations = find(metadata, "annotations");
	const cJSON *owner = find_controller(metadata);
	struct workload_source source = {
		.namespace = pod->namespace,
		.pod_name = pod->name,
		.owner_kind = text(owner, "kind"),
		.owner_name = text(owner, "name"),
		.pod_template_hash = text(labels, "pod-template-hash"),
		.deployment_config = text(labels, "deploymentconfig"),
		.app_instance = text(labels, "app.kubernetes.io/instance"),
		.app_name = text(labels, "app.kubernetes.io/name"),
		.service_name = text(annotations, "resource.opentelemetry.io/service.name"),
		.service_namespace = text(annotations,
					  "resource.opentelemetry.io/service.namespace"),
	};
	struct workload workload = workload_of(&source);

	pod->workload_kind = keep_name(reader, workload.kind);
	pod->workload_name = keep_workload_text(reader, workload.name);
	pod->service_name = keep_workload_text(reader, workload.service_name);
	pod->service_namespace = keep_workload_text(reader, workload.service_namespace);
}

/* Reads one item; false when it cannot be identified. */
static bool read_pod(struct pod_reader *reader, const cJSON *item, struct pod *ret_pod)
{
	const cJSON *metadata = find(item, "metadata");
	struct pod pod = {
		.source = POD_FROM_KUBELET,
		.name = keep_name(reader, text(metadata, "name")),
		.namespace = keep_name(reader, text(metadata, "namespace")),
		.uid = keep_name(reader, text(metadata, "uid")),
		.node = keep_name(reader, text(find(item, "spec"), "nodeName")),
		.start_time = keep_name(reader, text(find(item, "status"), "startTime")),
	};

	if (!pod.name[0] || !pod.namespace[0] || !pod.uid[0])
		return false;
	pod.is_opted_out = strcmp(text(find(metadata, "annotations"), "flamelet.dev/profile"),
				  "false") == 0;
	read_workload(reader, metadata, &pod);
	read_labels(reader, metadata, &pod);
	read_attributes(reader, metadata, &pod);
	read_containers(reader, item, &pod);
	*ret_pod = pod;
	return true;
}

int pod_reader_read(struct pod_reader *reader, const char *json, size_t len, struct pod *ret_pod)
{
	const cJSON *item;

	pthread_once(&hooks_once, set_hooks);
	int r = parse_tree(&reader->tree, json, len, &item);
	if (r == -ENOSPC)
		return 0;
	if (r < 0)
		return r;

	bool is_identified = read_pod(reader, item, ret_pod);
	return reader->error < 0 ? reader->error : is_identified;
}

void pod_reader_done(struct pod_reader *reader)
{
	free(reader->tree.block);
}

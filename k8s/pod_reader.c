/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON tree of a pod is built, read and freed before the next one; base/json.h limits its size.
 *
 * Every value of the tree may be missing or of another type: text() returns "" for a value that is
 * not a string. The reader remembers the first failed copy into the list's arena, so that it is
 * checked once, at a pod's end. */
#include "k8s/pod_reader.h"

#include "base/hex.h"
#include "base/json.h"
#include "base/utf8.h"
#include "base/wildcard.h"
#include "k8s/attribute_keys.h"
#include "k8s/image_name.h"
#include "k8s/workload.h"

#include <stdio.h>
#include <string.h>

#define CONTAINER_ID_HEX 64
#define TREE_MAX_BYTES (8 * POD_ITEM_MAX_BYTES)

static const char *text(const struct json_value *object, const char *name)
{
	const char *value = json_text(json_find(object, name));

	return value ? value : "";
}

/* Remembers the first failure of the arena. */
static void *keep(struct pod_reader *reader, void *memory)
{
	if (!memory && reader->error == 0)
		reader->error = arena_error(&reader->list->arena);
	return memory;
}

static void *keep_array(struct pod_reader *reader, size_t nr, size_t elem_bytes)
{
	return keep(reader, arena_alloc(&reader->list->arena, nr * elem_bytes));
}

/* Copies the longest start of a part of a C string that is valid UTF-8 and has at most `max`
 * bytes. */
static const char *keep_part(struct pod_reader *reader, struct strview part, size_t max)
{
	size_t kept = 0;

	for (size_t step; kept < part.len; kept += step) {
		step = utf8_char_len(part.text + kept);
		if (step == 0 || step > part.len - kept || kept + step > max)
			break;
	}

	const char *copy = keep(reader, arena_strndup(&reader->list->arena, part.text, kept));
	return copy ? copy : "";
}

static const char *keep_name(struct pod_reader *reader, const char *name)
{
	return keep_part(reader, strview_of(name, SIZE_MAX), POD_NAME_MAX);
}

static struct pod_attribute keep_attribute(struct pod_reader *reader, const char *key,
					   const char *value)
{
	return (struct pod_attribute){
		.key = keep_part(reader, strview_of(key, SIZE_MAX), POD_KEY_MAX),
		.value = keep_part(reader, strview_of(value, SIZE_MAX), POD_VALUE_MAX),
	};
}

static void read_labels(struct pod_reader *reader, const struct json_value *metadata,
			struct pod *pod)
{
	const struct json_value *labels = json_find(metadata, "labels");
	size_t nr = json_nr_children(labels);
	const struct json_value *label;

	if (nr > POD_LABELS_MAX) {
		reader->list->nr_left_out += nr - POD_LABELS_MAX;
		nr = POD_LABELS_MAX;
	}
	pod->labels = keep_array(reader, nr, sizeof(*pod->labels));
	if (!pod->labels)
		return;
	json_for_each(label, labels) {
		if (pod->nr_labels == nr)
			return;
		if (json_key(label) && json_text(label))
			pod->labels[pod->nr_labels++] = keep_attribute(reader, json_key(label),
								       json_text(label));
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

/* Adds the attributes from the labels and annotations of `metadata`. */
static void add_attributes(struct pod_reader *reader, const struct json_value *metadata,
			   struct pod *pod)
{
	const struct pod_list_opts *opts = reader->opts;
	const struct json_value *entry;

	json_for_each(entry, json_find(metadata, "labels")) {
		const char *key = json_key(entry), *value = json_text(entry);

		if (key && value &&
		    wildcard_matches_any(opts->label_keys, opts->nr_label_keys, key))
			add_attribute(reader, "k8s.pod.label.", key, value, pod);
	}
	json_for_each(entry, json_find(metadata, "annotations")) {
		const char *name = json_key(entry), *value = json_text(entry);

		if (!name || !value)
			continue;

		const char *key = attribute_key_of_annotation(name);
		if (key)
			add_attribute(reader, "", key, value, pod);
		if (wildcard_matches_any(opts->annotation_keys, opts->nr_annotation_keys, name))
			add_attribute(reader, "k8s.pod.annotation.", name, value, pod);
	}
}

static void read_attributes(struct pod_reader *reader, const struct json_value *metadata,
			    struct pod *pod)
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

/* Returns the hex digits of "containerd://<64 hex>", or NULL for any other text. */
static const char *bare_id(const char *id)
{
	const char *hex = strstr(id, "://");

	if (!hex)
		return NULL;
	hex += strlen("://");
	return hex_is(hex, CONTAINER_ID_HEX) ? hex : NULL;
}

static const struct container_kind {
	const char *statuses;
	const char *specs;
} container_kinds[] = {
	{ "containerStatuses", "containers" },
	{ "initContainerStatuses", "initContainers" },
	{ "ephemeralContainerStatuses", "ephemeralContainers" },
};

/* Returns the image in the spec. */
static const char *find_spec_image(const struct json_value *specs, const char *name)
{
	const struct json_value *spec;
	size_t nr = 0;

	json_for_each(spec, specs) {
		if (strcmp(text(spec, "name"), name) == 0)
			return text(spec, "image");
		if (++nr == POD_CONTAINERS_MAX)
			break;
	}
	return "";
}

static const char *find_image(const struct json_value *status, const struct json_value *specs)
{
	const char *image = text(status, "image");

	if (image[0] && !image_name_is_id(image))
		return image;
	image = find_spec_image(specs, text(status, "name"));
	return image_name_is_id(image) ? "" : image;
}

static uint32_t read_count(const struct json_value *object, const char *name)
{
	double number;

	if (!json_number(json_find(object, name), &number) || !(number >= 0))
		return 0;
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

static void add_container(struct pod_reader *reader, const struct pod_container *container,
			  const char *hex, struct pod *pod)
{
	struct pod_container *added = &pod->containers[pod->nr_containers++];

	*added = *container;
	added->id = keep_name(reader, hex);
}

/* Adds the current and the last terminated container of a status. Returns whether the status has
 * the current one. */
static bool read_status(struct pod_reader *reader, const struct json_value *status,
			const struct json_value *specs, struct pod *pod)
{
	const struct json_value *last = json_find(json_find(status, "lastState"), "terminated");
	const char *id = bare_id(text(status, "containerID"));
	const char *last_id = bare_id(text(last, "containerID"));
	struct image_name image = image_name_split(find_image(status, specs));

	/* A container that waits for its restart is its own last terminated one. */
	if (id && last_id && strcmp(id, last_id) == 0)
		last_id = NULL;
	if (!id && !last_id)
		return false;

	struct pod_container container = {
		.name = keep_name(reader, text(status, "name")),
		.image_name = keep_part(reader, image.name, POD_NAME_MAX),
		.image_tag = keep_part(reader, image.tag, POD_NAME_MAX),
		.restart_count = read_count(status, "restartCount"),
	};
	if (id)
		add_container(reader, &container, id, pod);
	container.restart_count -= container.restart_count > 0;
	if (last_id)
		add_container(reader, &container, last_id, pod);
	return id;
}

/* Reads statuses up to the limit of a pod. Returns how many of them have an ID. */
static size_t read_statuses(struct pod_reader *reader, const struct json_value *statuses,
			    const struct json_value *specs, struct pod *pod)
{
	const struct json_value *status;
	size_t nr_with_id = 0;

	json_for_each(status, statuses) {
		if (pod->nr_containers + 2 > POD_CONTAINERS_MAX)
			reader->list->nr_left_out++;
		else
			nr_with_id += read_status(reader, status, specs, pod);
	}
	return nr_with_id;
}

static void read_containers(struct pod_reader *reader, const struct json_value *item,
			    struct pod *pod)
{
	const struct json_value *status = json_find(item, "status");
	const struct json_value *spec = json_find(item, "spec");
	size_t nr_statuses = 0, nr_specs = 0, nr_with_id = 0;

	for (size_t i = 0; i < array_len(container_kinds); i++) {
		nr_statuses += json_nr_children(json_find(status, container_kinds[i].statuses));
		nr_specs += json_nr_children(json_find(spec, container_kinds[i].specs));
	}

	size_t cap = nr_statuses < POD_CONTAINERS_MAX / 2 ? nr_statuses * 2 : POD_CONTAINERS_MAX;
	pod->containers = keep_array(reader, cap, sizeof(*pod->containers));
	if (!pod->containers)
		return;
	for (size_t i = 0; i < array_len(container_kinds); i++)
		nr_with_id += read_statuses(reader, json_find(status, container_kinds[i].statuses),
					    json_find(spec, container_kinds[i].specs), pod);
	pod->has_all_ids = nr_with_id > 0 && nr_with_id >= nr_specs;
}

/* Returns the ownerReference with controller: true, or NULL. */
static const struct json_value *find_controller(const struct json_value *metadata)
{
	const struct json_value *owner;

	json_for_each(owner, json_find(metadata, "ownerReferences")) {
		if (json_is_true(json_find(owner, "controller")))
			return owner;
	}
	return NULL;
}

static void read_workload(struct pod_reader *reader, const struct json_value *metadata,
			  struct pod *pod)
{
	const struct json_value *labels = json_find(metadata, "labels");
	const struct json_value *annotations = json_find(metadata, "annotations");
	const struct json_value *owner = find_controller(metadata);
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
	pod->workload_name = keep_part(reader, workload.name, POD_NAME_MAX);
	pod->service_name = keep_part(reader, workload.service_name, POD_NAME_MAX);
	pod->service_namespace = keep_part(reader, workload.service_namespace, POD_NAME_MAX);
}

/* Reads one item; returns false if it cannot be identified. */
static bool read_pod(struct pod_reader *reader, const struct json_value *item, struct pod *ret_pod)
{
	const struct json_value *metadata = json_find(item, "metadata");
	struct pod pod = {
		.source = POD_FROM_KUBELET,
		.name = keep_name(reader, text(metadata, "name")),
		.namespace = keep_name(reader, text(metadata, "namespace")),
		.uid = keep_name(reader, text(metadata, "uid")),
		.node = keep_name(reader, text(json_find(item, "spec"), "nodeName")),
		.start_time = keep_name(reader, text(json_find(item, "status"), "startTime")),
	};

	if (!pod.name[0] || !pod.namespace[0] || !pod.uid[0])
		return false;
	pod.is_opted_out = strcmp(text(json_find(metadata, "annotations"), "flamelet.dev/profile"),
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
	_cleanup_(json_freep) struct json_value *item = NULL;

	int r = json_parse(json, len, TREE_MAX_BYTES, &item);
	if (r == -ENOSPC)
		return 0;
	if (r < 0)
		return r;

	bool is_identified = read_pod(reader, item, ret_pod);
	return reader->error < 0 ? reader->error : is_identified;
}

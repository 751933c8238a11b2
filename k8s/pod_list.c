/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows cJSON.
 *
 * A tree takes 6 to 7 times its text, and hostile text ("[0,0,0,…") much more, so cJSON allocates
 * from an arena with a limit, which also frees the tree in one go. cJSON's allocator is
 * process-wide; which arena it takes from is a thread's own matter, set while it parses.
 *
 * All that is read from the tree may be missing or of another type: find() answers NULL on NULL,
 * and text() answers "" for what is no string. */
#include "k8s/pod_list.h"

#include "k8s/workload.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CONTAINER_ID_HEX 64

/* Where the nodes of one tree live. */
struct json_memory {
	struct arena arena;
	bool is_full;
};

static pthread_once_t hooks_once = PTHREAD_ONCE_INIT;
static _Thread_local struct json_memory *present_memory; /* borrowed, while parse_tree() runs */

static void *allocate_node(size_t len)
{
	void *node = arena_alloc(&present_memory->arena, len);

	present_memory->is_full |= !node;
	return node;
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

static bool is_blank(const char *text, const char *end)
{
	while (text < end && strchr(" \t\r\n", *text) && *text)
		text++;
	return text == end;
}

static void json_memory_done(struct json_memory *memory)
{
	arena_done(&memory->arena);
}

/* Parses the whole body into a tree that lives in `memory`. */
static int parse_tree(const char *body, size_t len, struct json_memory *memory, cJSON **ret_root)
{
	const char *end = NULL;

	pthread_once(&hooks_once, set_hooks);
	present_memory = memory;
	cJSON *root = cJSON_ParseWithLengthOpts(body, len, &end, false);
	present_memory = NULL;

	if (memory->is_full)
		return -ENOSPC;
	if (!root || !is_blank(end, body + len))
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

/* Length of the UTF-8 sequence at `bytes`, or 0 when it is none. Overlong forms, surrogates and
 * what lies above U+10FFFF are none (RFC 3629, section 4). */
static size_t sequence_len(const unsigned char *bytes, size_t len)
{
	unsigned char first = bytes[0];
	size_t need = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (need == 1)
		return 1;
	if (first < 0xc2 || first > 0xf4 || need > len)
		return 0;
	for (size_t i = 1; i < need; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f))
		return 0;
	if ((first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return need;
}

/* Copies the longest beginning that is valid UTF-8 and fits a name. NULL when the arena is full. */
static const char *keep_text(struct arena *arena, const char *value, size_t len)
{
	size_t keep = 0;

	while (keep < len) {
		size_t step = sequence_len((const unsigned char *)value + keep, len - keep);

		if (step == 0 || keep + step > POD_NAME_MAX)
			break;
		keep += step;
	}
	return arena_strndup(arena, value, keep);
}

static const char *keep_string(struct arena *arena, const char *value)
{
	return keep_text(arena, value, strlen(value));
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

static const char *const status_lists[] = {
	"containerStatuses",
	"initContainerStatuses",
	"ephemeralContainerStatuses",
};
static const char *const spec_lists[] = { "containers", "initContainers", "ephemeralContainers" };

/* Elements of the lists named, all together. */
static size_t count_elements(const cJSON *object, const char *const names[], size_t nr_names)
{
	size_t nr_elements = 0;

	for (size_t i = 0; i < nr_names; i++)
		nr_elements += (size_t)cJSON_GetArraySize(find(object, names[i]));
	return nr_elements;
}

/* Adds the container under an ID. Returns 1, or 0 when that is no ID. */
static int add_container(struct arena *arena, const cJSON *status, const char *id, struct pod *pod)
{
	const char *hex = bare_id(id);

	if (!hex)
		return 0;

	struct pod_container container = {
		.name = keep_string(arena, text(status, "name")),
		.id = keep_string(arena, hex),
		.image = keep_string(arena, text(status, "image")),
	};
	if (!container.name || !container.id || !container.image)
		return -ENOSPC;
	pod->containers[pod->nr_containers++] = container;
	return 1;
}

/* Adds a status's container. Returns 1, or 0 when it has no ID at present. */
static int read_status(struct arena *arena, const cJSON *status, struct pod *pod)
{
	const cJSON *last = find(find(status, "lastState"), "terminated");

	int has_id = add_container(arena, status, text(status, "containerID"), pod);
	if (has_id < 0)
		return has_id;

	int r = add_container(arena, status, text(last, "containerID"), pod);
	return r < 0 ? r : has_id;
}

static int read_containers(struct arena *arena, const cJSON *item, struct pod *pod)
{
	const cJSON *status = find(item, "status");
	const cJSON *element;
	size_t nr_statuses = count_elements(status, status_lists, array_len(status_lists));
	size_t nr_with_id = 0;

	pod->containers = arena_alloc(arena, nr_statuses * 2 * sizeof(*pod->containers));
	if (!pod->containers)
		return -ENOSPC;
	for (size_t i = 0; i < array_len(status_lists); i++) {
		cJSON_ArrayForEach(element, find(status, status_lists[i]))
		{
			int r = read_status(arena, element, pod);
			if (r < 0)
				return r;
			nr_with_id += (size_t)r;
		}
	}
	pod->has_all_ids = nr_with_id > 0 &&
			   nr_with_id >= count_elements(find(item, "spec"), spec_lists,
							array_len(spec_lists));
	return 0;
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

static int read_workload(struct arena *arena, const cJSON *metadata, struct pod *pod)
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
		.app_instance = text(labels, "app.kubernetes.io/instance"),
		.app_name = text(labels, "app.kubernetes.io/name"),
		.service_name = text(annotations, "resource.opentelemetry.io/service.name"),
		.service_namespace = text(annotations,
					  "resource.opentelemetry.io/service.namespace"),
	};
	struct workload workload = workload_of(&source);

	pod->workload_kind = keep_string(arena, workload.kind);
	pod->workload_name = keep_text(arena, workload.name.text, workload.name.len);
	pod->service_name = keep_text(arena, workload.service_name.text, workload.service_name.len);
	pod->service_namespace = keep_text(arena, workload.service_namespace.text,
					   workload.service_namespace.len);
	return pod->workload_kind && pod->workload_name && pod->service_name &&
			       pod->service_namespace
		       ? 0
		       : -ENOSPC;
}

/* Reads one item. Errors: -EBADMSG when it cannot be identified, -ENOSPC. */
static int read_pod(struct arena *arena, const cJSON *item, struct pod *ret_pod)
{
	const cJSON *metadata = find(item, "metadata");
	struct pod pod = {
		.name = keep_string(arena, text(metadata, "name")),
		.namespace = keep_string(arena, text(metadata, "namespace")),
		.uid = keep_string(arena, text(metadata, "uid")),
		.node = keep_string(arena, text(find(item, "spec"), "nodeName")),
	};

	if (!pod.name || !pod.namespace || !pod.uid || !pod.node)
		return -ENOSPC;
	if (!pod.name[0] || !pod.namespace[0] || !pod.uid[0])
		return -EBADMSG;

	int r = read_workload(arena, metadata, &pod);
	if (r == 0)
		r = read_containers(arena, item, &pod);
	if (r < 0)
		return r;
	*ret_pod = pod;
	return 0;
}

static int read_items(struct pod_list *list, const cJSON *items)
{
	size_t nr_items = (size_t)cJSON_GetArraySize(items);
	const cJSON *item;

	list->pods = arena_alloc(&list->arena, nr_items * sizeof(*list->pods));
	if (!list->pods)
		return -ENOSPC;
	cJSON_ArrayForEach(item, items)
	{
		int r = read_pod(&list->arena, item, &list->pods[list->nr_pods]);

		if (r == -EBADMSG)
			list->nr_skipped++;
		else if (r < 0)
			return r;
		else
			list->nr_pods++;
	}
	return 0;
}

/* The kubelet says PodList; `kubectl get pods -o json` says List. */
static bool is_pod_list(const cJSON *root)
{
	const char *kind = text(root, "kind");
	const cJSON *items = find(root, "items");

	if (strcmp(kind, "PodList") != 0 && strcmp(kind, "List") != 0)
		return false;
	return cJSON_IsArray(items) || cJSON_IsNull(items);
}

int pod_list_parse(const char *body, size_t len, size_t max_bytes, struct pod_list **ret_list)
{
	_cleanup_(json_memory_done) struct json_memory tree = {
		.arena.max_bytes = PODS_TREE_MAX_BYTES,
	};
	_cleanup_(pod_list_freep) struct pod_list *list = calloc(1, sizeof(*list));
	cJSON *root;

	if (!list)
		return -ENOMEM;
	list->arena.max_bytes = max_bytes;

	int r = parse_tree(body, len, &tree, &root);
	if (r < 0)
		return r;
	if (!is_pod_list(root))
		return -EBADMSG;
	r = read_items(list, find(root, "items"));
	if (r < 0)
		return r;
	*ret_list = take_ptr(list);
	return 0;
}

void pod_list_free(struct pod_list *list)
{
	if (!list)
		return;
	arena_done(&list->arena);
	free(list);
}

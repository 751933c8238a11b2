/* SPDX-License-Identifier: Apache-2.0 */
/* Every runtime names cgroups in its own way, but the names are made of two parts only:
 *
 *	a pod directory		[anything-]pod<UID>[.slice]
 *	a container		[anything-]<ID>[.scope]
 *
 * where <UID> is 8-4-4-4-12 hex digits (systemd slices write "_" for "-") or 32 hex digits (static
 * pods), and <ID> is 64 hex digits. runc without its systemd driver makes one directory of both
 * when it is given a systemd name: "<pod directory>:cri-containerd:<ID>".
 *
 *	/kubepods.slice/kubepods-burstable-pod<UID>.slice/cri-containerd-<ID>.scope
 *	/kubepods/burstable/pod<UID>/<ID>
 *	/kubepods.slice/kubepods-pod<UID>.slice/crio-<ID>.scope/container	crun's child
 *	/docker/<ID>/kubelet.slice/kubelet-kubepods-pod<UID>.slice/cri-containerd-<ID>.scope	kind
 *	/../../pod<UID>/<ID>	from inside a private cgroup namespace
 *
 * The path is read from its root down, and the first container below the first pod ends it: that is
 * the one this node's kubelet knows. Deeper levels (systemd or docker running inside the container,
 * crun's child) belong to it. A container above the pod is a node that runs in a container (kind)
 * and is forgotten. Without a pod the first container wins for the same reason.
 *
 * What is not found here: DinD that escapes to a sibling of kubepods (/docker/<ID>), which no path
 * can attribute, and static pods whose manifest sets a UID of another shape. */
#include "k8s/cgroup_path.h"

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PATH_MAX_BYTES 4096
#define HASH_UID_LEN 32 /* of static pods; also the hex part of an ECS container */
#define ECS_DIGITS_MAX 20

/* A piece of the path; not NUL-terminated. */
struct span {
	const char *text;
	size_t len;
};

/* Cuts the text before the next separator off `rest`; false when nothing is left. */
static bool next_part(struct span *rest, char separator, struct span *ret_part)
{
	if (!rest->text)
		return false;

	const char *end = memchr(rest->text, separator, rest->len);
	if (!end) {
		*ret_part = *rest;
		*rest = (struct span){ 0 };
		return true;
	}
	*ret_part = (struct span){ rest->text, (size_t)(end - rest->text) };
	rest->len -= ret_part->len + 1;
	rest->text = end + 1;
	return true;
}

static struct span without_suffix(struct span span, const char *suffix)
{
	size_t len = strlen(suffix);

	if (span.len >= len && memcmp(span.text + span.len - len, suffix, len) == 0)
		span.len -= len;
	return span;
}

/* The last `len` bytes; `len` must not exceed what is there. */
static struct span tail(struct span span, size_t len)
{
	return (struct span){ span.text + span.len - len, len };
}

static bool is_hex(struct span span)
{
	for (size_t i = 0; i < span.len; i++) {
		char c = span.text[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
	}
	return true;
}

/* Whether all of it is 8-4-4-4-12 hex digits with "-", or all with "_", between them. */
static bool is_uuid(struct span span)
{
	static const size_t group_lens[] = { 8, 4, 4, 4, 12 };
	char separator = span.text[group_lens[0]];
	struct span group;

	if (separator != '-' && separator != '_')
		return false;
	for (size_t i = 0; i < array_len(group_lens); i++)
		if (!next_part(&span, separator, &group) || group.len != group_lens[i] ||
		    !is_hex(group))
			return false;
	return !span.text;
}

/* Whether the name ends in "pod" and a UID of `uid_len` bytes, with nothing or a "-" before it. */
static bool ends_in_pod_uid(struct span name, size_t uid_len)
{
	static const char marker[] = "pod";
	size_t marker_len = strlen(marker);

	if (name.len < marker_len + uid_len)
		return false;

	struct span uid = tail(name, uid_len);
	size_t marker_pos = name.len - uid_len - marker_len;
	if (memcmp(name.text + marker_pos, marker, marker_len) != 0)
		return false;
	if (marker_pos > 0 && name.text[marker_pos - 1] != '-')
		return false;
	return uid_len == POD_UID_MAX ? is_uuid(uid) : is_hex(uid);
}

/* Enters a pod when the name is that of a pod's directory. */
static bool read_pod(struct span name, struct cgroup_owner *owner)
{
	name = without_suffix(name, ".slice");

	size_t uid_len = ends_in_pod_uid(name, POD_UID_MAX) ? POD_UID_MAX : HASH_UID_LEN;
	if (!ends_in_pod_uid(name, uid_len))
		return false;

	*owner = (struct cgroup_owner){ .kind = CGROUP_POD };
	memcpy(owner->pod_uid, tail(name, uid_len).text, uid_len);
	for (char *c = owner->pod_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

/* "<32 hex>-<digits>", the name of an ECS container on Fargate. */
static bool is_ecs_container(struct span name)
{
	struct span hash;

	if (!next_part(&name, '-', &hash) || hash.len != HASH_UID_LEN || !is_hex(hash))
		return false;
	if (!name.text || name.len == 0 || name.len > ECS_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.text[i] < '0' || name.text[i] > '9')
			return false;
	return true;
}

/* The container ID in the name of a container's directory, or an empty span. */
static struct span find_container_id(struct span name)
{
	if (is_ecs_container(name))
		return name;
	name = without_suffix(name, ".scope");
	if (name.len < CONTAINER_ID_LEN || !is_hex(tail(name, CONTAINER_ID_LEN)))
		return (struct span){ 0 };
	if (name.len == CONTAINER_ID_LEN)
		return name;

	/* "cri-containerd-", "crio-", "docker-", "libpod-", or ":" after a systemd name. */
	char before = name.text[name.len - CONTAINER_ID_LEN - 1];
	return before == '-' || before == ':' ? tail(name, CONTAINER_ID_LEN) : (struct span){ 0 };
}

/* conmon watches a container from a scope of its own: "crio-conmon-<ID>.scope". */
static bool is_conmon(struct span name, struct span id)
{
	struct span prefix = { name.text, (size_t)(id.text - name.text) };

	return prefix.len > 0 && memmem(prefix.text, prefix.len, "conmon", strlen("conmon"));
}

/* Enters a container: final below a pod; without one, only the first counts and a pod may still
 * come. */
static bool take_container(struct span id, struct cgroup_owner *owner)
{
	bool is_in_pod = owner->pod_uid[0] != '\0';

	if (owner->kind == CGROUP_CONTAINER_NO_POD)
		return false;
	memcpy(owner->container_id, id.text, id.len);
	owner->kind = is_in_pod ? CGROUP_CONTAINER : CGROUP_CONTAINER_NO_POD;
	return is_in_pod;
}

/* Reads one directory's name, after those above it. Returns whether the owner is settled. */
static bool read_name(struct span name, struct cgroup_owner *owner)
{
	struct span rest = name;
	struct span first;

	if (!owner->pod_uid[0] && next_part(&rest, ':', &first) && read_pod(first, owner) &&
	    !rest.text)
		return false;

	struct span id = find_container_id(name);
	if (id.text && !is_conmon(name, id))
		return take_container(id, owner);
	if (owner->pod_uid[0] && name.len > 0)
		owner->kind = CGROUP_RUNTIME;
	return id.text && owner->kind == CGROUP_RUNTIME;
}

void cgroup_path_parse(const char *path, struct cgroup_owner *ret_owner)
{
	struct span rest = { path, strnlen(path, PATH_MAX_BYTES) };
	struct span name;

	*ret_owner = (struct cgroup_owner){ .kind = CGROUP_HOST };
	rest = without_suffix(rest, " (deleted)");
	while (next_part(&rest, '/', &name))
		if (read_name(name, ret_owner))
			return;
}

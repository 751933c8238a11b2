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
#include "cgroup/cgroup_path.h"

#include "base/strview.h"

#include <string.h>

#define PATH_MAX_BYTES 4096
#define HASH_UID_LEN 32 /* of static pods; also the hex part of an ECS container */
#define ECS_DIGITS_MAX 20

/* Returns whether the name ends in "pod" and a UID of `uid_len` bytes, with nothing or a "-" before
 * it. */
static bool ends_in_pod_uid(struct strview name, size_t uid_len)
{
	static const char marker[] = "pod";
	size_t marker_len = strlen(marker);

	if (name.len < marker_len + uid_len)
		return false;

	struct strview uid = strview_tail(name, uid_len);
	size_t marker_pos = name.len - uid_len - marker_len;
	if (memcmp(name.text + marker_pos, marker, marker_len) != 0)
		return false;
	if (marker_pos > 0 && name.text[marker_pos - 1] != '-')
		return false;
	return uid_len == POD_UID_MAX ? strview_is_uuid(uid) : strview_is_hex(uid);
}

/* Enters a pod when the name is that of a pod's directory. */
static bool read_pod(struct strview name, struct cgroup_owner *owner)
{
	name = strview_without_suffix(name, ".slice");

	size_t uid_len = ends_in_pod_uid(name, POD_UID_MAX) ? POD_UID_MAX : HASH_UID_LEN;
	if (!ends_in_pod_uid(name, uid_len))
		return false;

	*owner = (struct cgroup_owner){ .kind = CGROUP_POD };
	memcpy(owner->pod_uid, strview_tail(name, uid_len).text, uid_len);
	for (char *c = owner->pod_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

/* "<32 hex>-<digits>", the name of an ECS container on Fargate. */
static bool is_ecs_container(struct strview name)
{
	struct strview hash;

	if (!strview_next(&name, '-', &hash) || hash.len != HASH_UID_LEN || !strview_is_hex(hash))
		return false;
	if (!name.text || name.len == 0 || name.len > ECS_DIGITS_MAX)
		return false;
	return strview_has_only(name, "0123456789");
}

/* Returns the container ID in the name of a container's directory, or an empty view. */
static struct strview find_container_id(struct strview name)
{
	if (is_ecs_container(name))
		return name;
	name = strview_without_suffix(name, ".scope");
	if (name.len < CONTAINER_ID_LEN || !strview_is_hex(strview_tail(name, CONTAINER_ID_LEN)))
		return (struct strview){ 0 };
	if (name.len == CONTAINER_ID_LEN)
		return name;

	/* "cri-containerd-", "crio-", "docker-", "libpod-", or ":" after a systemd name. */
	char before = name.text[name.len - CONTAINER_ID_LEN - 1];
	return before == '-' || before == ':' ? strview_tail(name, CONTAINER_ID_LEN)
					      : (struct strview){ 0 };
}

/* conmon watches a container from a scope of its own: "crio-conmon-<ID>.scope". */
static bool is_conmon(struct strview name, struct strview id)
{
	struct strview prefix = { name.text, (size_t)(id.text - name.text) };

	return prefix.len > 0 && memmem(prefix.text, prefix.len, "conmon", strlen("conmon"));
}

/* Enters a container: final below a pod; without one, only the first counts and a pod may still
 * come. */
static bool take_container(struct strview id, struct cgroup_owner *owner)
{
	bool is_in_pod = owner->pod_uid[0] != '\0';

	if (owner->kind == CGROUP_CONTAINER_NO_POD)
		return false;
	memcpy(owner->container_id, id.text, id.len);
	owner->kind = is_in_pod ? CGROUP_CONTAINER : CGROUP_CONTAINER_NO_POD;
	return is_in_pod;
}

/* Reads one directory's name, after those above it. Returns whether the owner is settled. */
static bool read_name(struct strview name, struct cgroup_owner *owner)
{
	struct strview rest = name;
	struct strview first;

	if (!owner->pod_uid[0] && !owner->is_users && strview_next(&rest, ':', &first) &&
	    read_pod(first, owner) && !rest.text)
		return false;

	struct strview id = find_container_id(name);
	if (id.text && !is_conmon(name, id))
		return take_container(id, owner);
	if (owner->pod_uid[0] && name.len > 0)
		owner->kind = CGROUP_RUNTIME;
	return id.text && owner->kind == CGROUP_RUNTIME;
}

/* systemd's "user-1000.slice" at the top of the hierarchy, in "user.slice". */
static bool is_user_slice(struct strview name, bool is_in_users)
{
	return is_in_users && strview_starts_with(name, "user-") &&
	       strview_ends_with(name, ".slice");
}

void cgroup_path_parse(const char *path, struct cgroup_owner *ret_owner)
{
	bool is_in_users = false;
	struct strview rest = strview_of(path, PATH_MAX_BYTES);
	bool is_settled = false;
	struct strview name;

	*ret_owner = (struct cgroup_owner){ .kind = CGROUP_HOST };
	rest = strview_without_suffix(rest, " (deleted)");
	while (!(is_settled && ret_owner->is_nested) && strview_next(&rest, '/', &name)) {
		if (name.len == 0)
			continue;
		ret_owner->is_nested = ret_owner->container_id[0] != '\0';
		ret_owner->is_users |= is_user_slice(name, is_in_users);
		is_in_users = strview_is(name, "user.slice");
		is_settled = is_settled || read_name(name, ret_owner);
	}
}

static bool is_pods_root_name(struct strview name)
{
	return strview_is(name, "kubepods") || strview_is(name, "kubepods.slice") ||
	       strview_ends_with(name, "-kubepods.slice");
}

bool cgroup_path_is_pods_root(const char *path)
{
	struct strview rest = strview_of(path, PATH_MAX_BYTES);
	struct cgroup_owner owner;
	struct strview name;
	bool is_root = false;

	cgroup_path_parse(path, &owner);
	if (owner.pod_uid[0])
		return false;
	while (strview_next(&rest, '/', &name)) {
		if (name.len == 0)
			continue;
		if (is_root)
			return false;
		is_root = is_pods_root_name(name);
	}
	return is_root;
}

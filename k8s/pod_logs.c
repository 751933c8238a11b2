/* SPDX-License-Identifier: Apache-2.0 */
/* A link's name contains pod, namespace and container, but no UID. Its target contains the UID and
 * the number of restarts. A link that cannot be read belongs to the pod of its name, unless there
 * are two: a StatefulSet's pod keeps its name when it is recreated. A link adds its pod even if the
 * pod's directory no longer exists. */
#include "k8s/pod_logs.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "k8s/pod_log_name.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

struct found_container {
	uint32_t pod; /* its row */
	struct pod_container container;
};

/* Pods and containers found so far; all strings are in the list's arena. */
struct findings {
	struct pod_list *list;
	struct pod *pods; /* owned */
	size_t nr_pods, cap_pods;
	struct htable by_name; /* rows of pods by namespace and name */
	struct found_container *containers; /* owned */
	size_t nr_containers, cap_containers;
	size_t nr_read; /* names in directories */
};

static void findings_done(struct findings *findings)
{
	pod_list_free(findings->list);
	free(findings->pods);
	free(findings->containers);
	htable_done(&findings->by_name);
}

static const char *keep(struct findings *findings, struct strview text)
{
	return arena_strndup(&findings->list->arena, text.text, text.len);
}

static uint32_t hash_name(struct strview namespace, struct strview pod)
{
	return hash_bytes(namespace.text, namespace.len) ^ 31 * hash_bytes(pod.text, pod.len);
}

/* Returns the row of the pod with that UID; without a UID, of the only pod of that name; -1 if
 * there is none. */
static int64_t find_pod(const struct findings *findings, const struct pod_log_dir *dir)
{
	struct htable_iter it = htable_lookup(&findings->by_name,
					      hash_name(dir->namespace, dir->pod));
	int64_t found = -1;

	if (findings->nr_pods == 0)
		return -1;
	for (uint32_t row; htable_next(&it, &row);) {
		const struct pod *pod = &findings->pods[row];

		if (!strview_is(dir->namespace, pod->namespace) || !strview_is(dir->pod, pod->name))
			continue;
		if (dir->uid.len > 0 && strview_is(dir->uid, pod->uid))
			return row;
		if (dir->uid.len == 0) {
			if (found >= 0)
				return -1;
			found = row;
		}
	}
	return found;
}

static int add_pod(struct findings *findings, const struct pod_log_dir *dir)
{
	struct pod pod = {
		.source = POD_FROM_LOGS,
		.name = keep(findings, dir->pod),
		.namespace = keep(findings, dir->namespace),
		.uid = keep(findings, dir->uid),
		.node = "",
		.start_time = "",
		.workload_kind = "",
		.workload_name = "",
	};

	if (!pod.name || !pod.namespace || !pod.uid)
		return arena_error(&findings->list->arena);
	pod.service_name = pod.name;
	pod.service_namespace = pod.namespace;

	int r = array_grow(findings->pods, findings->cap_pods, findings->nr_pods + 1, POD_LOGS_MAX);
	if (r < 0)
		return r;
	r = htable_add(&findings->by_name, hash_name(dir->namespace, dir->pod),
		       (uint32_t)findings->nr_pods);
	if (r == 0)
		findings->pods[findings->nr_pods++] = pod;
	return r;
}

static bool is_directory(int dir_fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int read_pod(struct findings *findings, int dir_fd, const struct dirent *entry)
{
	struct pod_log_dir dir;

	if (is_directory(dir_fd, entry) &&
	    pod_log_dir_parse(strview_of(entry->d_name, NAME_MAX), &dir))
		return find_pod(findings, &dir) < 0 ? add_pod(findings, &dir) : 0;
	findings->list->nr_skipped++;
	return 0;
}

/* Reads the target of a link, which contains the pod's UID. */
static void read_target(int dir_fd, const char *name, const struct pod_log_link *link,
			char target[static PATH_MAX], struct pod_log_file *ret_file)
{
	ssize_t len = readlinkat(dir_fd, name, target, PATH_MAX);
	struct pod_log_file file;

	*ret_file = (struct pod_log_file){ .dir = { link->namespace, link->pod, { 0 } } };
	if (len > 0 && pod_log_file_parse((struct strview){ target, (size_t)len }, &file))
		*ret_file = file;
}

static int add_container(struct findings *findings, int64_t pod, const struct pod_log_link *link,
			 uint32_t restart_count)
{
	struct pod_container container = {
		.name = keep(findings, link->container),
		.id = keep(findings, link->id),
		.image_name = "",
		.image_tag = "",
		.restart_count = restart_count,
	};

	if (!container.name || !container.id)
		return arena_error(&findings->list->arena);

	int r = array_grow(findings->containers, findings->cap_containers,
			   findings->nr_containers + 1, POD_LOGS_MAX);
	if (r == 0)
		findings->containers[findings->nr_containers++] =
			(struct found_container){ (uint32_t)pod, container };
	return r;
}

static int read_link(struct findings *findings, int dir_fd, const struct dirent *entry)
{
	char target[PATH_MAX];
	struct pod_log_link link;
	struct pod_log_file file;

	if (!pod_log_link_parse(strview_of(entry->d_name, NAME_MAX), &link)) {
		findings->list->nr_skipped++;
		return 0;
	}
	read_target(dir_fd, entry->d_name, &link, target, &file);

	int64_t pod = find_pod(findings, &file.dir);
	if (pod < 0 && file.dir.uid.len == 0) {
		findings->list->nr_skipped++;
		return 0;
	}
	if (pod < 0) {
		int r = add_pod(findings, &file.dir);
		if (r < 0)
			return r;
		pod = (int64_t)findings->nr_pods - 1;
	}
	return add_container(findings, pod, &link, file.restart_count);
}

typedef int (*read_entry)(struct findings *findings, int dir_fd, const struct dirent *entry);

/* Administrators move log directories to other disks: links to them are followed. */
static int open_directory(const char *dir, const char *name, DIR **ret_dir)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >= sizeof(path))
		return -ENAMETOOLONG;

	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_dir = fdopendir(fd);
	if (!*ret_dir)
		return -errno;
	(void)take_fd(fd);
	return 0;
}

static int read_directory(struct findings *findings, const char *dir, const char *name,
			  read_entry read)
{
	_cleanup_closedir_ DIR *opened = NULL;
	const struct dirent *entry;

	int r = open_directory(dir, name, &opened);
	if (!opened)
		return r;
	while ((errno = 0, entry = readdir(opened))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++findings->nr_read > POD_LOGS_MAX)
			return -ENOSPC;
		r = read(findings, dirfd(opened), entry);
		if (r < 0)
			return r;
	}
	return -errno;
}

/* Moves rows into the list, each pod with its containers. */
static int fill_list(struct findings *findings)
{
	struct arena *arena = &findings->list->arena;
	struct pod *pods = arena_alloc(arena, findings->nr_pods * sizeof(*pods) + 1);
	struct pod_container *containers = arena_alloc(
		arena, findings->nr_containers * sizeof(*containers) + 1);

	if (!pods || !containers)
		return arena_error(arena);

	for (size_t i = 0; i < findings->nr_containers; i++)
		findings->pods[findings->containers[i].pod].nr_containers++;
	for (size_t i = 0; i < findings->nr_pods; i++) {
		pods[i] = findings->pods[i];
		pods[i].containers = containers;
		containers += pods[i].nr_containers;
		pods[i].nr_containers = 0;
	}
	for (size_t i = 0; i < findings->nr_containers; i++) {
		struct pod *pod = &pods[findings->containers[i].pod];

		pod->containers[pod->nr_containers++] = findings->containers[i].container;
	}
	findings->list->pods = pods;
	findings->list->nr_pods = findings->nr_pods;
	return 0;
}

int pod_logs_list(const char *dir, size_t max_bytes, struct pod_list **ret_list)
{
	_cleanup_(findings_done) struct findings findings = {
		.list = calloc(1, sizeof(struct pod_list)),
	};

	if (!findings.list)
		return -ENOMEM;
	findings.list->arena.max_bytes = max_bytes;

	int pods = read_directory(&findings, dir, "pods", read_pod);
	if (pods < 0 && pods != -ENOENT)
		return pods;
	int links = read_directory(&findings, dir, "containers", read_link);
	if (links < 0 && (links != -ENOENT || pods < 0))
		return links;

	int r = fill_list(&findings);
	if (r == 0)
		*ret_list = take_ptr(findings.list);
	return r;
}

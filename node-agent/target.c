/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "base/array.h"
#include "k8s/cgroup_path.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CGROUPS 1024
#define PATH_MAX_BYTES 8192

void target_done(struct target *target)
{
	free(target->cgroup_ids);
	*target = (struct target){ 0 };
}

static int add_cgroup(struct target *target, uint64_t id)
{
	int r = array_grow(target->cgroup_ids, target->cap_cgroup_ids, target->nr_cgroup_ids + 1,
			   MAX_CGROUPS);
	if (r == 0)
		target->cgroup_ids[target->nr_cgroup_ids++] = id;
	return r;
}

/* What a walk over all cgroups looks for. */
struct cgroup_search {
	struct target *target;
	const char *pod_uid; /* a pod's own directory; NULL: not asked for */
	const char *container; /* ID or its beginning; NULL: not asked for */
	struct strbuf found; /* path of the last one found */
};

/* A target's cgroup stands for all below it. */
static bool is_below(const char *path, const struct strbuf *found)
{
	return found->len > 0 && strncmp(path, found->data, found->len) == 0 &&
	       path[found->len] == '/';
}

static bool matches(const struct cgroup_search *search, const struct cgroup_owner *owner)
{
	if (search->pod_uid)
		return owner->kind == CGROUP_POD && strcmp(owner->pod_uid, search->pod_uid) == 0;
	return owner->container_id[0] &&
	       strncmp(owner->container_id, search->container, strlen(search->container)) == 0;
}

static int visit(const char *path, uint64_t id, void *data)
{
	struct cgroup_search *search = data;
	struct cgroup_owner owner;

	cgroup_path_parse(path, &owner);
	if (is_below(path, &search->found) || !matches(search, &owner))
		return 0;
	strbuf_clear(&search->found);
	strbuf_append_str(&search->found, path);
	return add_cgroup(search->target, id);
}

/* Adds the cgroups that a search finds; with what it was for in the message when there is none. */
static int find_cgroups(const struct cgroup_fs *fs, struct cgroup_search *search, const char *what,
			const char *name, struct strbuf *reterr_msg)
{
	size_t nr_before = search->target->nr_cgroup_ids;

	search->found = strbuf_with_max(PATH_MAX_BYTES);
	int r = cgroup_fs_walk(fs, visit, search);
	strbuf_done(&search->found);
	if (r == 0 && search->target->nr_cgroup_ids == nr_before)
		r = -ENOENT;
	if (r == -ENOENT)
		strbuf_appendf(reterr_msg, "%s %s: no such %s runs on this node", what, name, what);
	else if (r < 0)
		strbuf_appendf(reterr_msg, "%s %s: cannot list all cgroups: %s", what, name,
			       strerror(-r));
	return r;
}

static int resolve_pod(const char *pod, const struct cgroup_fs *fs, struct pod_index *pods,
		       struct target *target, struct strbuf *reterr_msg)
{
	char uid[POD_UID_MAX + 1];
	const char *slash = strchr(pod, '/');
	_cleanup_free_ char *namespace = slash ? strndup(pod, (size_t)(slash - pod)) : NULL;
	const char *name = slash ? slash + 1 : pod;

	if (slash && !namespace)
		return -ENOMEM;
	int r = pod_index_find_uid(pods, namespace, name, uid);
	if (r == -ENOTUNIQ)
		strbuf_appendf(reterr_msg, "pod %s is in several namespaces: write NAMESPACE/%s",
			       name, name);
	else if (r < 0)
		strbuf_appendf(reterr_msg,
			       "pod %s: the kubelet does not list it; names need "
			       "--kubelet-url",
			       pod);
	if (r < 0)
		return r;

	struct cgroup_search search = { .target = target, .pod_uid = uid };
	return find_cgroups(fs, &search, "pod", pod, reterr_msg);
}

static int resolve_cgroup(const struct cgroup_fs *fs, const char *path, struct target *target,
			  struct strbuf *reterr_msg)
{
	const char *root = cgroup_fs_root(fs);
	size_t root_len = strlen(root);
	uint64_t id;

	/* As a path in the file system, too. */
	if (strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || !path[root_len]))
		path += root_len;
	int r = cgroup_fs_id(fs, path, &id);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "cgroup %s: not found below %s", path, root);
		return r;
	}
	return add_cgroup(target, id);
}

static int resolve_cgroups(const struct options *options, const struct cgroup_fs *fs,
			   struct pod_index *pods, struct target *target, struct strbuf *reterr_msg)
{
	int r = 0;

	for (size_t i = 0; i < options->pods.nr && r == 0; i++)
		r = resolve_pod(options->pods.items[i], fs, pods, target, reterr_msg);
	for (size_t i = 0; i < options->containers.nr && r == 0; i++) {
		const char *id = options->containers.items[i];
		struct cgroup_search search = { .target = target, .container = id };

		r = find_cgroups(fs, &search, "container", id, reterr_msg);
	}
	for (size_t i = 0; i < options->cgroups.nr && r == 0; i++)
		r = resolve_cgroup(fs, options->cgroups.items[i], target, reterr_msg);
	return r;
}

static int check_processes(const struct number_list *pids, struct strbuf *reterr_msg)
{
	for (size_t i = 0; i < pids->nr; i++) {
		pid_t pid = (pid_t)pids->items[i];

		/* A thread's id has itself for its process only in the first thread. */
		if (tgkill(pid, pid, 0) == 0 || errno != ESRCH)
			continue;
		strbuf_appendf(reterr_msg, "pid %d: no such process", pid);
		if (kill(pid, 0) == 0)
			strbuf_append_str(reterr_msg, "; it is a thread, which --tid takes");
		return -ENOENT;
	}
	return 0;
}

static int check_threads(const struct number_list *tids, struct strbuf *reterr_msg)
{
	for (size_t i = 0; i < tids->nr; i++) {
		if (kill((pid_t)tids->items[i], 0) < 0 && errno == ESRCH) {
			strbuf_appendf(reterr_msg, "tid %u: no such thread", tids->items[i]);
			return -ENOENT;
		}
	}
	return 0;
}

int target_resolve(const struct options *options, const struct cgroup_fs *cgroup_fs,
		   struct pod_index *pods, struct target *ret_target, struct strbuf *reterr_msg)
{
	_cleanup_(target_done) struct target target = { 0 };

	int r = check_processes(&options->pids, reterr_msg);
	if (r == 0)
		r = check_threads(&options->tids, reterr_msg);
	if (r == 0)
		r = resolve_cgroups(options, cgroup_fs, pods, &target, reterr_msg);
	if (r < 0)
		return r;
	for (size_t i = 0; i < options->cpus.nr; i++) {
		uint32_t cpu = options->cpus.items[i];

		if (cpu < CPU_LIST_MAX)
			target.cpus.words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
	}
	*ret_target = target;
	target = (struct target){ 0 };
	return 0;
}

void target_apply(const struct target *target, const struct options *options,
		  struct capture_opts *capture)
{
	capture->cpus = options->cpus.nr > 0 ? &target->cpus : NULL;
	capture->pids = options->pids.items;
	capture->nr_pids = options->pids.nr;
	capture->tids = options->tids.items;
	capture->nr_tids = options->tids.nr;
	capture->comms = (const char *const *)options->comms.items;
	capture->nr_comms = options->comms.nr;
	capture->cgroup_ids = target->cgroup_ids;
	capture->nr_cgroup_ids = target->nr_cgroup_ids;
	capture->include_idle = options->include_idle;
	capture->follow_forks = options->command.nr > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/target.h"

#include "k8s/label_selector.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int target_resolve(const struct options *options, struct target *ret_target,
		   struct strbuf *reterr_msg)
{
	struct target target = { 0 };

	int r = check_processes(&options->pids, reterr_msg);
	if (r == 0)
		r = check_threads(&options->tids, reterr_msg);
	if (r < 0)
		return r;
	for (size_t i = 0; i < options->cpus.nr; i++) {
		uint32_t cpu = options->cpus.items[i];

		if (cpu < CPU_LIST_MAX)
			target.cpus.words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
	}
	*ret_target = target;
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
	capture->include_idle = options->include_idle;
	capture->follow_forks = options->command.nr > 0;
}

/* Returns the path below the root of the hierarchy. Users may also give the
 * path in the file system. */
static const char *below_root(const struct cgroup_fs *fs, const char *path)
{
	const char *root = cgroup_fs_root(fs);
	size_t len = strlen(root);

	if (strncmp(path, root, len) == 0 && (path[len] == '/' || !path[len]))
		path += len;
	return path;
}

int target_check_cgroups(const struct options *options, const struct cgroup_fs *fs,
			 struct strbuf *reterr_msg)
{
	for (size_t i = 0; i < options->cgroups.nr; i++) {
		const char *path = options->cgroups.items[i];
		uint64_t id;

		int r = cgroup_fs_id(fs, below_root(fs, path), &id);
		if (r < 0) {
			strbuf_appendf(reterr_msg, "cgroup %s: not found below %s", path,
				       cgroup_fs_root(fs));
			return r;
		}
	}
	return 0;
}

static struct text_list borrow(const struct string_list *list)
{
	return (struct text_list){ (const char *const *)list->items, list->nr };
}

/* Returns the rules that the options have; paths of cgroups are as the user wrote them. */
static struct selection_rules rules_of(const struct options *options)
{
	return (struct selection_rules){
		.namespaces = borrow(&options->namespaces),
		.pods = borrow(&options->pods),
		.containers = borrow(&options->containers),
		.selectors = borrow(&options->selectors),
		.cgroups = borrow(&options->cgroups),
		.excluded_namespaces = borrow(&options->excluded_namespaces),
		.excluded_containers = borrow(&options->excluded_containers),
		.excluded_selectors = borrow(&options->excluded_selectors),
	};
}

int target_check_selection(const struct options *options, struct strbuf *reterr_msg)
{
	_cleanup_(selection_freep) struct selection *selection = NULL;
	const struct selection_rules rules = rules_of(options);

	return selection_new(&rules, reterr_msg, &selection);
}

int target_select(const struct options *options, const struct cgroup_fs *fs,
		  struct strbuf *reterr_msg, struct selection **ret_selection)
{
	_cleanup_free_ const char **paths = calloc(options->cgroups.nr + 1, sizeof(*paths));
	struct selection_rules rules = rules_of(options);

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < options->cgroups.nr; i++)
		paths[i] = below_root(fs, options->cgroups.items[i]);
	rules.cgroups = (struct text_list){ paths, options->cgroups.nr };
	return selection_new(&rules, reterr_msg, ret_selection);
}

struct cgroup_search {
	const struct string_list *paths; /* borrowed */
	const struct cgroup_fs *fs; /* borrowed */
	struct string_list *ids; /* borrowed */
};

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len > 0 && top[len - 1] == '/')
		len--;
	return strncmp(path, top, len) == 0 && (path[len] == '/' || !path[len]);
}

static int visit_cgroup(const char *path, uint64_t id, void *data)
{
	const struct cgroup_search *search = data;
	char text[24];

	for (size_t i = 0; i < search->paths->nr; i++) {
		if (is_below(path, below_root(search->fs, search->paths->items[i]))) {
			snprintf(text, sizeof(text), "%" PRIu64, id);
			return string_list_add(search->ids, text);
		}
	}
	return 0;
}

int target_find_cgroups(const struct options *options, struct strbuf *reterr_msg,
			struct string_list *ret_ids)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;
	_cleanup_(string_list_done) struct string_list ids = { 0 };

	int r = cgroup_fs_open(NULL, &fs);
	if (r < 0) {
		strbuf_append_str(reterr_msg, "--cgroup: this machine has no cgroups");
		return r;
	}
	r = target_check_cgroups(options, fs, reterr_msg);
	if (r < 0)
		return r;
	struct cgroup_search search = { &options->cgroups, fs, &ids };
	r = cgroup_fs_walk(fs, visit_cgroup, &search);
	if (r == -ENOSPC)
		strbuf_append_str(reterr_msg, "--cgroup: too many cgroups; name smaller ones");
	if (r == 0 && ids.nr == 0) { /* it is deeper than the walk goes */
		strbuf_append_str(reterr_msg, "--cgroup: no such cgroup was found");
		r = -ENOENT;
	}
	if (r < 0)
		return r;
	*ret_ids = ids;
	ids = (struct string_list){ 0 };
	return 0;
}

int target_append_label_matchers(const struct options *options, struct strbuf *matchers,
				 struct strbuf *reterr_msg)
{
	/* "!canary" holds for samples outside of pods as well. */
	if (options->selectors.nr > 0)
		strbuf_append_str(matchers, "pod!=\"\"");
	for (size_t i = 0; i < options->selectors.nr; i++) {
		_cleanup_(label_selector_freep) struct label_selector *selector = NULL;

		int r = label_selector_parse(options->selectors.items[i], reterr_msg, &selector);
		if (r < 0)
			return r;
		label_selector_append_matchers(selector, "k8s.pod.label.", matchers);
	}
	return strbuf_error(matchers);
}

void target_explain_none(const struct options *options, bool is_excluded, struct strbuf *out)
{
	strbuf_append_str(out,
			  "nothing on this node matches the selected pods, containers or cgroups");
	if (is_excluded)
		strbuf_append_str(out, ", or its pod is excluded (annotation "
				       "flamelet.dev/profile: \"false\")");
	if (!options->kubelet_url)
		strbuf_append_str(out, "; selecting by pod names or labels needs --kubelet-url");
}

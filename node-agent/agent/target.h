/* SPDX-License-Identifier: Apache-2.0 */
/* The processes, threads and CPUs that the user asked to profile, as options of the capture, and
 * the pods and cgroups, as a selection. */
#ifndef AGENT_TARGET_H
#define AGENT_TARGET_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "cgroup/cgroup_fs.h"
#include "config/options.h"
#include "k8s/selection.h"

struct target {
	struct cpu_set_bits cpus;
};

/* Checks that the processes and threads exist now. On failure `reterr_msg` names the one that does
 * not.
 * Errors: -ENOENT no such process or thread. */
int target_resolve(const struct options *options, struct target *ret_target,
		   struct strbuf *reterr_msg) must_check;

/* Fills in the target fields of capture options; they borrow from both. */
void target_apply(const struct target *target, const struct options *options,
		  struct capture_opts *capture);

/* Checks that the cgroups exist now. On failure `reterr_msg` names the one that does not. Errors:
 * -ENOENT, and those of stat(2). */
int target_check_cgroups(const struct options *options, const struct cgroup_fs *fs,
			 struct strbuf *reterr_msg) must_check;

/* Checks whether the options' rules for pods and cgroups make a selection; else `reterr_msg` says
 * why not. Errors: those of selection_new(). */
int target_check_selection(const struct options *options, struct strbuf *reterr_msg) must_check;

/* Makes a selection of the options' rules for pods and cgroups. Errors: those of
 * selection_new(). */
int target_select(const struct options *options, const struct cgroup_fs *fs,
		  struct strbuf *reterr_msg, struct selection **ret_selection) must_check;

/* Finds the cgroups of the options and those below them that exist now: their ids, as texts. On
 * failure `reterr_msg` says why. Errors: -ENOENT there is no such cgroup, -ENOSPC too many, those
 * of cgroup_fs_open() and cgroup_fs_walk(). */
int target_find_cgroups(const struct options *options, struct strbuf *reterr_msg,
			struct string_list *ret_ids) must_check;

/* Appends the options' label selectors of pods as matchers of samples (store/selector.h). On
 * failure `reterr_msg` says why. Errors: those of label_selector_parse(). */
int target_append_label_matchers(const struct options *options, struct strbuf *matchers,
				 struct strbuf *reterr_msg) must_check;

/* Appends why nothing is selected on this node, for people; `is_excluded`: something is, but its
 * pod does not want it. */
void target_explain_none(const struct options *options, bool is_excluded, struct strbuf *out);

#endif

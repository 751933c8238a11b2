/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two profiles, "before" and "after", stack by stack. The flame trees of both become one
 * tree, in which each node has two counts; one of them may be 0.
 *
 *	before				after				diff
 *	nginx 30 ─┬▶ parse 20		nginx 90 ─┬▶ parse 20		nginx 30, 90 ─┬▶ parse 20, 20
 *	          └▶ zlib 10		          └▶ brotli 70		              ├▶ zlib 10, 0
 *									              └▶ brotli 0, 70
 *
 * Counts of two profiles are rarely comparable as they are: one of them may be longer, or was taken
 * at another frequency. So those of before are multiplied by `scale`:
 *
 *	DIFF_SHARES	both profiles become equally large. This shows how the work is made up, and
 *			hides that there is more or less of it.
 *	DIFF_RATES	values per second; of CPU profiles, CPU time per second.
 *	DIFF_SUMS	values; of CPU profiles, CPU time.
 *
 * Samples are random. A function that has 1 of 1000 samples before and 3 after may not have changed
 * at all. If nothing has changed, the count of a node in a profile is binomial, and the difference
 * of after and scaled before has the variance
 *
 *	scale * (before + after) * (1 - p),	p = (before + after) / (both totals)
 *
 * where p is 0 unless the totals are made equal. Counts are whole numbers: a sample less before and
 * one more after make a step of 1 + scale, and half a step is added to two standard errors, as the
 * usual correction for continuity. A change up to this limit is called noise, and so is one of up
 * to two samples of the side whose samples weigh more. At most one in twenty functions that did not
 * change shows a larger change. Values that are not samples, such as bytes, have no known error,
 * and no noise here. */
#ifndef PROFILE_DIFF_H
#define PROFILE_DIFF_H

#include "base/err.h"
#include "profile/flame_tree.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diff_measure { DIFF_SHARES, DIFF_RATES, DIFF_SUMS };

/* Counts of the same thing in both profiles. */
struct diff_pair {
	uint64_t before, after;
};

struct diff {
	/* Owned. Names have the same number (name_id) if they are equal. The functions of nodes are
	 * those of `after`, or of `before` if the node is only there. */
	struct flame_tree tree;
	const struct profile *before, *after; /* borrowed */
	enum diff_measure measure;
	double scale; /* of counts of before; 0 if there are none */
	bool has_noise; /* whether values are numbers of samples */
};

/* Both profiles must have the same type and outlive the diff. `is_absolute` asks for rates, or for
 * sums if the duration of a profile is not known; so does a profile without samples, which has no
 * shares. A tree has `max_nodes` nodes at most; stacks
 * beyond that are truncated and counted in tree.nr_cut. Errors: -ENOMEM, -ENOSPC too many names. */
int diff_init(struct diff *diff, const struct profile *before, const struct profile *after,
	      bool is_absolute, size_t max_nodes) must_check;
void diff_done(struct diff *diff);

/* Returns the kind by which frames are compared. All languages of user space are one, as files do
 * not always tell them apart. */
enum flame_kind diff_kind(enum flame_kind kind);

/* Returns the counts of a node, or of the root: the totals. */
struct diff_pair diff_node(const struct diff *diff, uint32_t node);
struct diff_pair diff_totals(const struct diff *diff);

/* Returns the counts of the samples that end at a node. */
struct diff_pair diff_self(const struct diff *diff, uint32_t node);

/* Returns the profile that a node's function belongs to; borrowed. */
const struct profile *diff_profile_of(const struct diff *diff, uint32_t node);

/* Returns how much more there is after than before, in counts of after. Rounding is no change. */
double diff_change(const struct diff *diff, struct diff_pair pair);

/* Returns how large a change may be by chance, as above; 0 if that is not known. */
double diff_noise(const struct diff *diff, struct diff_pair pair);

/* Returns whether the change is not larger than the noise. */
bool diff_is_noise(const struct diff *diff, struct diff_pair pair);

/* Returns the change as a part of the larger side: -1 it is gone, -0.5 half of it, 0 as before,
 * 0.5 twice as much, 1 it is new. */
double diff_relative(const struct diff *diff, struct diff_pair pair);

/* Returns the change of the share of the total, in percentage points. */
double diff_points(const struct diff *diff, struct diff_pair pair);

/* Returns the CPUs that one count of a profile stands for: CPU time per second of time. 0 if its
 * values are no CPU time, or if its duration is not known. */
double diff_cpus_per_count(const struct profile *profile);

#endif

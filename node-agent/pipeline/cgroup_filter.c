/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cgroup_filter.h"

#define NESTED_VERDICTS_MAX (MAX_CGROUP_VERDICTS / 2)

void cgroup_filter_init(struct cgroup_filter *filter, struct sample_source *source,
			struct identity *identity, struct pod_index *pods,
			const struct selection *selection)
{
	*filter = (struct cgroup_filter){
		.source = source,
		.identity = identity,
		.pods = pods,
		.selection = selection,
		.is_outdated = true,
	};
}

void cgroup_filter_select(struct cgroup_filter *filter, const struct selection *selection)
{
	filter->selection = selection;
	filter->is_outdated = true;
}

static enum cgroup_verdict to_verdict(enum selection_verdict verdict)
{
	static const enum cgroup_verdict verdicts[] = {
		[SELECTION_WANTED] = CGROUP_WANTED,
		[SELECTION_EXCLUDED] = CGROUP_EXCLUDED,
		[SELECTION_UNDECIDED] = CGROUP_UNDECIDED,
	};

	return verdicts[verdict];
}

/* A cgroup whose verdict is being decided. */
struct judgement {
	const struct selection *selection;
	const struct known_cgroup *cgroup;
	enum cgroup_verdict verdict;
};

static void judge_match(const struct pod_match *match, void *data)
{
	struct judgement *judgement = data;
	const struct known_cgroup *cgroup = judgement->cgroup;
	const char *path = cgroup->path ? cgroup->path : "";

	judgement->verdict = to_verdict(
		selection_decide(judgement->selection, path, &cgroup->owner, match));
}

static enum cgroup_verdict verdict_of(const struct cgroup_filter *filter,
				      const struct known_cgroup *cgroup)
{
	struct judgement judgement = { filter->selection, cgroup, CGROUP_UNFILTERED };

	pod_index_find(filter->pods, &cgroup->owner, cgroup_table_seen_ns(cgroup), judge_match,
		       &judgement);
	return judgement.verdict;
}

/* Returns the verdict of cgroups without one, if no cgroup above them has one. */
static enum cgroup_verdict default_verdict(const struct cgroup_filter *filter)
{
	return selection_has_inclusions(filter->selection) ? CGROUP_EXCLUDED : CGROUP_WANTED;
}

/* Returns the verdict that the kernel must have; CGROUP_UNFILTERED for none, if the cgroup above
 * decides. */
static enum cgroup_verdict needed_verdict(const struct cgroup_filter *filter,
					  const struct known_cgroup *cgroup)
{
	if (cgroup->is_dead)
		return CGROUP_UNFILTERED;

	enum cgroup_verdict verdict = verdict_of(filter, cgroup);
	if (selection_is_empty(filter->selection))
		return verdict == CGROUP_EXCLUDED ? verdict : CGROUP_UNFILTERED;
	if (cgroup->owner.pod_uid[0] || verdict != default_verdict(filter))
		return verdict;
	if (cgroup->path && cgroup_path_is_pods_root(cgroup->path))
		return CGROUP_UNDECIDED;
	return cgroup->owner.kind == CGROUP_HOST ? CGROUP_UNFILTERED : verdict;
}

static void count(struct cgroup_filter *filter, const struct known_cgroup *cgroup)
{
	bool is_container = cgroup->owner.kind == CGROUP_CONTAINER && !cgroup->owner.is_nested;

	filter->stats.nr_wanted += cgroup->verdict == CGROUP_WANTED;
	filter->stats.nr_excluded += cgroup->verdict == CGROUP_EXCLUDED;
	filter->stats.nr_undecided += cgroup->verdict == CGROUP_UNDECIDED;
	if (cgroup->verdict == CGROUP_UNDECIDED && is_container &&
	    cgroup->first_seen_ns > filter->undecided_ns)
		filter->undecided_ns = cgroup->first_seen_ns;
}

/* A container that may make cgroups can make many. Once half of the room is taken, cgroups nested
 * in a container get its verdict. */
static bool must_follow(const struct cgroup_filter *filter, const struct known_cgroup *cgroup)
{
	const struct cgroup_filter_stats *stats = &filter->stats;

	return cgroup->owner.is_nested &&
	       stats->nr_wanted + stats->nr_excluded + stats->nr_undecided >= NESTED_VERDICTS_MAX;
}

static void judge(struct cgroup_filter *filter, struct known_cgroup *cgroup)
{
	enum cgroup_verdict verdict = needed_verdict(filter, cgroup);

	if (must_follow(filter, cgroup))
		verdict = CGROUP_UNFILTERED;
	cgroup->is_judged = true;
	if (verdict == cgroup->verdict)
		return;
	if (verdict == CGROUP_UNFILTERED) {
		sample_source_forget_cgroup(filter->source, cgroup->id);
	} else if (sample_source_set_cgroup(filter->source, cgroup->id, verdict) < 0) {
		filter->stats.nr_refused++;
		return;
	}
	cgroup->verdict = verdict;
}

static void update_one(struct known_cgroup *cgroup, void *data)
{
	struct cgroup_filter *filter = data;

	if (filter->is_outdated || !cgroup->is_judged)
		judge(filter, cgroup);
	count(filter, cgroup);
}

/* The verdicts are set before the default. If the selection has no inclusions any more, the new
 * default alone would let samples through that are now excluded. */
void cgroup_filter_update(struct cgroup_filter *filter)
{
	uint64_t pods_generation = pod_index_generation(filter->pods);
	uint64_t cgroups_generation = identity_generation(filter->identity);

	filter->is_outdated |= pods_generation != filter->pods_generation;
	if (!filter->is_outdated && cgroups_generation == filter->cgroups_generation)
		return;
	filter->stats = (struct cgroup_filter_stats){ .nr_refused = filter->stats.nr_refused };
	filter->undecided_ns = 0;
	identity_visit(filter->identity, update_one, filter);

	bool is_unfiltered = selection_is_empty(filter->selection) &&
			     filter->stats.nr_excluded == 0;
	sample_source_set_cgroup_default(filter->source, is_unfiltered ? CGROUP_UNFILTERED
								       : default_verdict(filter));
	filter->is_outdated = false;
	filter->pods_generation = pods_generation;
	filter->cgroups_generation = cgroups_generation;
}

bool cgroup_filter_is_waiting(const struct cgroup_filter *filter, uint64_t now_ns)
{
	return filter->undecided_ns > 0 && now_ns < filter->undecided_ns + CGROUP_ASK_FOR_NS;
}

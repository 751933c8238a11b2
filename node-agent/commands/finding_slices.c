/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/finding_slices.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <stdio.h>
#include <stdlib.h>

#define SLICE_S UINT64_C(300)
#define MAX_SLICES 60
#define PROFILE_MAX_BYTES ((size_t)1 << 30)

/* Where a rule found most; `share` is 0 if it found nothing. */
struct best {
	uint64_t slice;
	double amount, share;
	bool is_of_whole; /* the whole range has the finding, too */
};

struct slicing {
	const struct record_query *query; /* borrowed */
	struct time_range range; /* of what the record has */
	uint64_t slice_s;
	struct best *best; /* owned; by rule */
};

void finding_slices_done(struct finding_slices *slices)
{
	for (size_t i = 0; i < slices->nr; i++) {
		findings_done(&slices->items[i].findings);
		store_answer_done(&slices->items[i].samples);
	}
	free(slices->items);
	*slices = (struct finding_slices){ 0 };
}

static size_t rule_of(const struct finding *finding)
{
	return (size_t)(finding->rule - finding_rules);
}

static double share_of(const struct finding *finding)
{
	return finding->of > 0 ? (double)finding->count / (double)finding->of : 0;
}

static struct time_range range_of(const struct slicing *slicing, uint64_t slice)
{
	uint64_t first_s = slicing->range.first_s + slice * slicing->slice_s;

	return (struct time_range){ first_s,
				    min_u64(first_s + slicing->slice_s, slicing->range.end_s) };
}

/* Reads a part and tries all rules on it. Returns 1, or 0 if it has no samples. */
static int read_slice(const struct slicing *slicing, uint64_t number, struct finding_slice *slice)
{
	_cleanup_(strbuf_done) struct strbuf warnings = { 0 };
	const struct store_query query = {
		.range = range_of(slicing, number),
		.selector = &slicing->query->selector,
		.type = PROFILE_CPU,
		.with_labels = true,
		.max_bytes = PROFILE_MAX_BYTES,
	};

	int r = store_reader_merge(slicing->query->reader, &query, &warnings, &slice->samples);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = findings_init(&slice->findings, slice->samples.profile);
	if (r < 0)
		store_answer_done(&slice->samples);
	return r < 0 ? r : 1;
}

static void slice_done(struct finding_slice *slice)
{
	findings_done(&slice->findings);
	store_answer_done(&slice->samples);
}

static int look_at(struct slicing *slicing, uint64_t number)
{
	struct finding_slice slice;

	int r = read_slice(slicing, number, &slice);
	if (r <= 0)
		return r;
	for (size_t i = 0; i < slice.findings.nr; i++) {
		const struct finding *finding = &slice.findings.items[i];
		struct best *best = &slicing->best[rule_of(finding)];
		double amount = (double)finding->count / (double)slicing->slice_s;

		if (amount > best->amount) {
			best->slice = number;
			best->amount = amount;
			best->share = share_of(finding);
		}
	}
	slice_done(&slice);
	return 0;
}

static void set_time(const struct slicing *slicing, uint64_t slice, double share,
		     struct finding_time *time)
{
	const struct time_range range = range_of(slicing, slice);
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	record_query_format_time(range.first_s, first);
	record_query_format_time(range.end_s, end);
	time->first_s = range.first_s;
	time->end_s = range.end_s;
	time->share = share;
	snprintf(time->text, sizeof(time->text), "%s to %s", first, end);
}

static void note_worst(const struct slicing *slicing, struct findings *whole)
{
	for (size_t i = 0; i < whole->nr; i++) {
		struct finding *finding = &whole->items[i];
		struct best *best = &slicing->best[rule_of(finding)];

		best->is_of_whole = true;
		if (best->share > share_of(finding))
			set_time(slicing, best->slice, best->share, &finding->worst);
	}
}

/* Keeps the findings that only parts have and that are at their worst in this one. */
static void keep_own(const struct slicing *slicing, uint64_t number, struct findings *findings)
{
	size_t nr = 0;

	for (size_t i = 0; i < findings->nr; i++) {
		struct finding *finding = &findings->items[i];
		const struct best *best = &slicing->best[rule_of(finding)];

		if (best->is_of_whole || best->slice != number)
			continue;
		set_time(slicing, number, best->share, &finding->only);
		findings->items[nr++] = *finding;
	}
	findings->nr = nr;
}

static bool has_own(const struct slicing *slicing, uint64_t number)
{
	for (size_t i = 0; i < nr_finding_rules; i++) {
		const struct best *best = &slicing->best[i];

		if (best->share > 0 && !best->is_of_whole && best->slice == number)
			return true;
	}
	return false;
}

static int collect(const struct slicing *slicing, uint64_t nr_slices, struct finding_slices *slices)
{
	slices->items = calloc(nr_finding_rules, sizeof(*slices->items));
	if (!slices->items)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr_slices && slices->nr < nr_finding_rules; i++) {
		struct finding_slice *slice = &slices->items[slices->nr];
		int r = has_own(slicing, i) ? read_slice(slicing, i, slice) : 0;

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		slices->nr++;
		keep_own(slicing, i, &slice->findings);
	}
	return 0;
}

int finding_slices_read(const struct record_query *query, struct findings *whole,
			struct finding_slices *ret_slices)
{
	const struct profile *profile = whole->profile;
	uint64_t first_s = profile->time_unix_ns / NSEC_PER_SEC;
	uint64_t length_s = profile->duration_ns / NSEC_PER_SEC;
	_cleanup_free_ struct best *best = calloc(nr_finding_rules, sizeof(*best));
	struct slicing slicing = {
		.query = query,
		.range = { first_s, first_s + length_s },
		.slice_s = max_u64(SLICE_S, (length_s + MAX_SLICES - 1) / MAX_SLICES),
		.best = best,
	};
	uint64_t nr_slices = (length_s + slicing.slice_s - 1) / slicing.slice_s;
	struct finding_slices slices = { 0 };
	int r = 0;

	if (!best)
		return -ENOMEM;
	for (uint64_t i = 0; r == 0 && nr_slices > 1 && i < nr_slices; i++)
		r = look_at(&slicing, i);
	if (r == 0) {
		note_worst(&slicing, whole);
		r = collect(&slicing, nr_slices, &slices);
	}
	if (r < 0) {
		finding_slices_done(&slices);
		return r;
	}
	*ret_slices = slices;
	return 0;
}

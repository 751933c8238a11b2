/* SPDX-License-Identifier: Apache-2.0 */
/* A second of a large node has ten thousand samples, but a few hundred programs. So samples are
 * joined by the numbers that the profile gives to their labels, and only the programs' label sets
 * are looked up in the dictionary. */
#include "store/second_sums.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/htable.h"
#include "store/ingest.h"
#include "store/timeline_codec.h"

#include <stdlib.h>

#define MAX_GROUPS ((size_t)1 << 20)

/* The labels of a program, as numbers of the profile. */
struct program {
	uint64_t cgroup_id;
	uint32_t resource, process, comm;
	uint32_t sample; /* one of its samples */
};

struct programs {
	struct program *items; /* owned; in the order of the groups */
	size_t cap;
	struct htable index;
};

static void programs_done(struct programs *programs)
{
	free(programs->items);
	htable_done(&programs->index);
}

void second_sums_done(struct second_sums *sums)
{
	free(sums->groups);
	free(sums->cpus);
	*sums = (struct second_sums){ 0 };
}

static bool is_of(const struct program *program, const struct profile_sample *sample)
{
	return program->cgroup_id == sample->cgroup_id && program->resource == sample->resource &&
	       program->process == sample->process && program->comm == sample->process_comm;
}

static uint32_t hash_of(const struct profile_sample *sample)
{
	const uint64_t key[] = { sample->cgroup_id,
				 (uint64_t)sample->resource << 32 | sample->process,
				 sample->process_comm };

	return hash_bytes(key, sizeof(key));
}

static int add_group(struct second_sums *sums, struct programs *programs,
		     const struct profile_sample *sample, uint32_t hash, uint32_t index)
{
	size_t nr = sums->nr_groups + 1;
	int r;

	if ((r = array_grow(sums->groups, sums->cap_groups, nr, MAX_GROUPS)) < 0 ||
	    (r = array_grow(programs->items, programs->cap, nr, MAX_GROUPS)) < 0 ||
	    (r = htable_add(&programs->index, hash, (uint32_t)sums->nr_groups)) < 0)
		return r;
	programs->items[sums->nr_groups] = (struct program){ sample->cgroup_id, sample->resource,
							     sample->process, sample->process_comm,
							     index };
	sums->groups[sums->nr_groups++] = (struct second_group){ .value = sample->count };
	return 0;
}

static int add_to_group(struct second_sums *sums, struct programs *programs,
			const struct profile_sample *sample, uint32_t index)
{
	uint32_t hash = hash_of(sample);
	struct htable_iter it = htable_lookup(&programs->index, hash);

	for (uint32_t row; programs->items && htable_next(&it, &row);) {
		if (is_of(&programs->items[row], sample)) {
			sums->groups[row].value += sample->count;
			return 0;
		}
	}
	return add_group(sums, programs, sample, hash, index);
}

/* The list has all CPUs up to the highest one meanwhile. */
static int add_to_cpu(struct second_sums *sums, const struct profile_sample *sample)
{
	int r = array_grow(sums->cpus, sums->cap_cpus, (size_t)sample->cpu + 1, TRACK_MAX_CPUS);

	if (r < 0)
		return r;
	for (; sums->nr_cpus <= sample->cpu; sums->nr_cpus++)
		sums->cpus[sums->nr_cpus] = (struct second_cpu){ .cpu = (uint32_t)sums->nr_cpus };
	sums->cpus[sample->cpu].value += sample->count;
	return 0;
}

static void remove_idle_cpus(struct second_sums *sums)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < sums->nr_cpus; i++)
		if (sums->cpus[i].value > 0)
			sums->cpus[nr_kept++] = sums->cpus[i];
	sums->nr_cpus = nr_kept;
}

/* Processes of one program have one label set. */
static int compare_labels(const void *a, const void *b)
{
	const struct second_group *one = a, *other = b;

	return (one->labels > other->labels) - (one->labels < other->labels);
}

static void join_groups(struct second_sums *sums)
{
	size_t nr_kept = 0;

	if (sums->nr_groups > 1)
		qsort(sums->groups, sums->nr_groups, sizeof(*sums->groups), compare_labels);
	for (size_t i = 0; i < sums->nr_groups; i++) {
		if (nr_kept > 0 && sums->groups[nr_kept - 1].labels == sums->groups[i].labels)
			sums->groups[nr_kept - 1].value += sums->groups[i].value;
		else
			sums->groups[nr_kept++] = sums->groups[i];
	}
	sums->nr_groups = nr_kept;
}

static int label_groups(struct second_sums *sums, const struct programs *programs,
			const struct profile *profile, struct dict *dict)
{
	_cleanup_(ingest_done) struct ingest ingest;
	int r = ingest_init(&ingest, dict, profile);

	for (size_t i = 0; r == 0 && programs->items && i < sums->nr_groups; i++)
		r = ingest_program(&ingest, &profile->samples[programs->items[i].sample],
				   &sums->groups[i].labels);
	if (r == 0)
		join_groups(sums);
	return r;
}

int second_sums_make(struct second_sums *sums, const struct profile *profile, struct dict *dict)
{
	_cleanup_(programs_done) struct programs programs = { 0 };
	uint64_t total = 0;
	int r = 0;

	*sums = (struct second_sums){ 0 };
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		total += sample->count;
		r = add_to_group(sums, &programs, sample, (uint32_t)i);
		if (r == 0)
			r = add_to_cpu(sums, sample);
	}
	if (r == 0)
		r = label_groups(sums, &programs, profile, dict);
	if (r < 0)
		return r;
	remove_idle_cpus(sums);
	sums->series = (struct second_series){
		.type = profile->type,
		.period = profile->period,
		.total = total,
		.groups = sums->groups,
		.nr_groups = sums->nr_groups,
		.cpus = sums->cpus,
		.nr_cpus = sums->nr_cpus,
	};
	/* They count samples, so they fit no other values. */
	if (slots_total(&profile->slots) == total)
		sums->series.slots = profile->slots;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "top/tally.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdlib.h>

#define NAME_MAX_BYTES 16384
#define NAMES_MAX_BYTES ((size_t)64 << 20)
#define NO_PID ((uint64_t)1 << 32)
#define NO_ROW UINT32_MAX

/* Finds the row of a name, or adds it. */
static int find_row(struct tally *tally, const char *name, const char *kind, uint32_t *ret_row)
{
	uint32_t id;

	int r = intern_add(&tally->names, name, &id);
	if (r < 0)
		return r;
	if (id == 0) /* the empty name */
		return find_row(tally, "[unnamed]", kind, ret_row);
	r = array_grow(tally->rows, tally->cap_rows, id, TALLY_ROWS_MAX);
	if (r < 0)
		return r;
	if (id > tally->nr_rows)
		tally->rows[tally->nr_rows++] = (struct tally_row){
			.name = intern_get(&tally->names, id),
			.kind = kind,
		};
	*ret_row = id - 1;
	return 0;
}

static void add_sample(struct tally *tally, uint32_t row, const struct profile_sample *sample)
{
	enum cpu_side side = cpu_split_side(&tally->split, sample->stack);

	tally->rows[row].total += sample->count;
	tally->rows[row].sides[side] += sample->count;
	tally->rows[row].nr_samples++;
	tally->total += sample->count;
	tally->sides[side] += sample->count;
}

/* `row_of` gets the row of each sample. */
static int add_samples(struct tally *tally, uint32_t *row_of)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_MAX_BYTES);
	const struct profile *profile = tally->profile;
	int r = 0;

	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		strbuf_clear(&name);
		const char *kind = grouping_append(tally->by, profile, sample, &name);
		if (strbuf_error(&name) == -ENOMEM) /* a name that is too long is cut */
			return -ENOMEM;
		r = find_row(tally, strbuf_str(&name), kind, &row_of[i]);
		if (r == 0)
			add_sample(tally, row_of[i], sample);
	}
	return r;
}

/* Orders the samples by row. */
static void order_samples(struct tally *tally, const uint32_t *row_of)
{
	size_t first = 0;

	for (size_t i = 0; i < tally->nr_rows; i++) {
		tally->rows[i].first = first;
		first += tally->rows[i].nr_samples;
		tally->rows[i].nr_samples = 0;
	}
	for (uint32_t i = 0; i < tally->profile->nr_samples; i++) {
		struct tally_row *row = &tally->rows[row_of[i]];

		tally->order[row->first + row->nr_samples++] = i;
	}
}

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *key_a = a, *key_b = b;

	return *key_a < *key_b ? -1 : *key_a > *key_b;
}

/* `keys` has room for all samples of the row. */
static uint32_t count_processes(const struct tally *tally, const struct tally_row *row,
				uint64_t *keys)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < row->nr_samples; i++) {
		const struct profile_sample *sample =
			&tally->profile->samples[tally->order[row->first + i]];

		keys[i] = sample->pid ? sample->pid : NO_PID | sample->process_comm;
	}
	qsort(keys, row->nr_samples, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < row->nr_samples; i++)
		nr += i == 0 || keys[i] != keys[i - 1];
	return nr;
}

static int build(struct tally *tally)
{
	size_t nr_samples = tally->profile->nr_samples;
	_cleanup_free_ uint32_t *row_of = calloc(nr_samples + 1, sizeof(*row_of));
	_cleanup_free_ uint64_t *keys = calloc(nr_samples + 1, sizeof(*keys));

	tally->order = calloc(nr_samples + 1, sizeof(*tally->order));
	if (!row_of || !keys || !tally->order)
		return -ENOMEM;
	int r = intern_init(&tally->names, TALLY_ROWS_MAX, NAMES_MAX_BYTES);
	if (r == 0)
		r = cpu_split_init(&tally->split, tally->profile);
	if (r == 0)
		r = add_samples(tally, row_of);
	if (r < 0)
		return r;
	order_samples(tally, row_of);
	for (size_t i = 0; i < tally->nr_rows; i++)
		tally->rows[i].nr_processes = count_processes(tally, &tally->rows[i], keys);
	return 0;
}

/* Finds the row of a wait. One with nothing to do only has the row that another sample added. */
static int find_wait_row(struct tally *tally, const struct profile_sample *sample, bool is_rest,
			 struct strbuf *name, uint32_t *ret_row)
{
	uint32_t id;

	strbuf_clear(name);
	const char *kind = grouping_append(tally->by, tally->waits, sample, name);
	if (strbuf_error(name) == -ENOMEM)
		return -ENOMEM;
	if (!is_rest)
		return find_row(tally, strbuf_str(name), kind, ret_row);
	if (intern_find(&tally->names, strbuf_str(name), &id) == 0 && id > 0)
		*ret_row = id - 1;
	return 0;
}

static void add_wait(struct tally *tally, uint32_t row, enum wait_class class, size_t number)
{
	const struct profile *waits = tally->waits;
	const struct profile_sample *sample = &waits->samples[number];
	uint64_t nr = sample->nr_joined > 0 ? sample->nr_joined : 1;
	uint64_t time_ns = sample->count;

	if (waits->duration_ns > 0 && time_ns / nr > waits->duration_ns)
		time_ns = nr * waits->duration_ns;
	tally->wait_sums[class] += time_ns;
	if (row == NO_ROW)
		return;
	tally->rows[row].waits[class] += time_ns;
	tally->rows[row].reasons[sample->reason] += time_ns;
	tally->rows[row].nr_waits++;
}

/* Adds the waits of WAIT_REST, or all others. */
static int add_waits(struct tally *tally, bool is_rest, uint32_t *row_of)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_MAX_BYTES);
	int r = 0;

	for (size_t i = 0; r == 0 && i < tally->waits->nr_samples; i++) {
		const struct profile_sample *sample = &tally->waits->samples[i];
		enum wait_class class = wait_split_class(&tally->wait_split, sample);

		if ((class == WAIT_REST) != is_rest)
			continue;
		row_of[i] = NO_ROW;
		r = find_wait_row(tally, sample, is_rest, &name, &row_of[i]);
		if (r == 0)
			add_wait(tally, row_of[i], class, i);
	}
	return r;
}

static void order_waits(struct tally *tally, const uint32_t *row_of)
{
	size_t first = 0;

	for (size_t i = 0; i < tally->nr_rows; i++) {
		tally->rows[i].first_wait = first;
		first += tally->rows[i].nr_waits;
		tally->rows[i].nr_waits = 0;
	}
	for (uint32_t i = 0; i < tally->waits->nr_samples; i++) {
		if (row_of[i] == NO_ROW)
			continue;
		struct tally_row *row = &tally->rows[row_of[i]];

		tally->wait_order[row->first_wait + row->nr_waits++] = i;
	}
}

int tally_add_waits(struct tally *tally, struct profile *waits)
{
	_cleanup_free_ uint32_t *row_of = calloc(waits->nr_samples + 1, sizeof(*row_of));

	tally->waits = profile_ref(waits);
	tally->wait_order = calloc(waits->nr_samples + 1, sizeof(*tally->wait_order));
	if (!row_of || !tally->wait_order)
		return -ENOMEM;
	int r = wait_split_init(&tally->wait_split, waits);
	if (r == 0)
		r = add_waits(tally, false, row_of);
	if (r == 0)
		r = add_waits(tally, true, row_of);
	if (r == 0)
		order_waits(tally, row_of);
	return r;
}

int tally_init(struct tally *tally, struct profile *profile, enum grouping by)
{
	_cleanup_(tally_done) struct tally built = { .profile = profile_ref(profile), .by = by };

	int r = build(&built);
	if (r < 0)
		return r;
	*tally = built;
	built = (struct tally){ 0 };
	return 0;
}

void tally_done(struct tally *tally)
{
	profile_unref(tally->profile);
	profile_unref(tally->waits);
	cpu_split_done(&tally->split);
	wait_split_done(&tally->wait_split);
	intern_done(&tally->names);
	free(tally->rows);
	free(tally->order);
	free(tally->wait_order);
	*tally = (struct tally){ 0 };
}

double tally_cpus(const struct tally *tally, uint64_t count)
{
	if (!tally->profile || tally->profile->duration_ns == 0)
		return 0;
	return (double)count * (double)tally->profile->period / (double)tally->profile->duration_ns;
}

struct tally_part tally_samples(const struct tally *tally, const struct tally_row *row)
{
	return (struct tally_part){ tally->profile, tally->order + row->first, row->nr_samples };
}

struct tally_part tally_waits(const struct tally *tally, const struct tally_row *row)
{
	if (!tally->waits)
		return (struct tally_part){ 0 };
	return (struct tally_part){ tally->waits, tally->wait_order + row->first_wait,
				    row->nr_waits };
}

uint64_t tally_blocked_ns(const uint64_t waits[static WAIT_NR_CLASSES])
{
	uint64_t sum = 0;

	for (enum wait_class class = 0; class < WAIT_NR_BLOCKED; class ++)
		sum += waits[class];
	return sum;
}

size_t tally_row_reasons(const struct tally_row *row,
			 enum wait_reason ret_reasons[static REASON_NR])
{
	size_t nr = 0;

	for (enum wait_reason reason = 0; reason < REASON_NR; reason++) {
		size_t at = nr;

		if (row->reasons[reason] == 0)
			continue;
		for (; at > 0 && row->reasons[ret_reasons[at - 1]] < row->reasons[reason]; at--)
			ret_reasons[at] = ret_reasons[at - 1];
		ret_reasons[at] = reason;
		nr++;
	}
	return nr;
}

double tally_threads(const struct tally *tally, uint64_t time_ns)
{
	if (!tally->waits || tally->waits->duration_ns == 0)
		return 0;
	return (double)time_ns / (double)tally->waits->duration_ns;
}

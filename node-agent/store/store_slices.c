/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_slices.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/zstd.h"
#include "profile/builder.h"
#include "store/block.h"
#include "store/store_file.h"
#include "store/stored_dict.h"
#include "store/stored_value.h"
#include "store/sums.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS ((size_t)1 << 26)

struct slicer {
	const struct store_slicing *slicing; /* borrowed */
	uint64_t *left_out; /* borrowed */
	struct strbuf plain; /* owned */
	struct zstd_unpacker unpacker;

	/* Of the current file. */
	struct dict dict;
	bool *is_selected; /* owned; by label set */

	/* Of the current block. */
	const struct store_block *block; /* borrowed */
	struct block_row *rows; /* owned; those of the range that are selected */
	size_t nr_rows, cap_rows;
};

static void close_dict(struct slicer *slicer)
{
	dict_done(&slicer->dict);
	free(slicer->is_selected);
	slicer->is_selected = NULL;
}

static void slicer_done(struct slicer *slicer)
{
	close_dict(slicer);
	strbuf_done(&slicer->plain);
	zstd_unpacker_done(&slicer->unpacker);
	free(slicer->rows);
}

static int select_labels(struct slicer *slicer)
{
	size_t nr = slicer->dict.tables[DICT_LABELS].nr_rows;

	slicer->is_selected = calloc(nr + 1, sizeof(*slicer->is_selected));
	if (!slicer->is_selected)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		slicer->is_selected[i] = selector_matches(slicer->slicing->selector, &slicer->dict,
							  i);
	return 0;
}

/* Slices. */

static uint64_t second_of(const struct slicer *slicer, const struct block_row *row)
{
	return slicer->block->first_s + row->second;
}

/* Adds the rows to a profile, all with the same time: Unix time in ns, or 0. */
static int add_rows(struct slicer *slicer, const struct block_row *rows, size_t nr,
		    uint64_t time_ns, struct builder *builder)
{
	_cleanup_(sums_done) struct sums sums = { .time_ns = time_ns };
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr; i++)
		r = sums_add(&sums, rows[i].labels, rows[i].node, rows[i].value);
	return r < 0 ? r : sums_build(&sums, &slicer->dict, builder, slicer->left_out);
}

/* Returns how many of the rows are in the second of the first one. */
static size_t count_second(const struct block_row *rows, size_t nr)
{
	size_t i = 1;

	while (i < nr && rows[i].second == rows[0].second)
		i++;
	return i;
}

/* Waits have no times: their values are no numbers of samples. */
static int fill_slice(struct slicer *slicer, const struct block_row *rows, size_t nr,
		      struct builder *builder)
{
	bool with_times = slicer->slicing->with_times && slicer->block->type == PROFILE_CPU;
	size_t nr_now = nr;
	int r = 0;

	for (size_t i = 0; r == 0 && i < nr; i += nr_now) {
		uint64_t second = second_of(slicer, &rows[i]);

		if (with_times)
			nr_now = count_second(rows + i, nr - i);
		r = add_rows(slicer, rows + i, nr_now, with_times ? second * NSEC_PER_SEC : 0,
			     builder);
	}
	return r;
}

/* The start of a process counts from the boot of the machine that was recorded, and nothing tells
 * when that was. Without it, the process is known by its pid. */
static void forget_starts(struct profile *profile)
{
	for (size_t i = 0; i < profile->nr_processes; i++)
		profile->processes[i].start_ns = 0;
}

/* Returns the length of a slice in seconds. Snapshots are never added up, so each has its own. */
static uint64_t slice_length(const struct slicer *slicer)
{
	return profile_type_is_snapshot(slicer->block->type) ? 1 : slicer->slicing->slice_s;
}

/* Sets the time of a slice: as much of it as is in the block and in the range. */
static void set_time(const struct slicer *slicer, uint64_t second, struct builder *builder)
{
	const struct time_range *range = &slicer->slicing->range;
	const struct store_block *block = slicer->block;
	uint64_t length = slice_length(slicer);
	uint64_t first_s = second / length * length;
	uint64_t end_s = min_u64(first_s + length, min_u64(block->end_s, range->end_s));

	first_s = max_u64(first_s, max_u64(block->first_s, range->first_s));
	builder_set_time(builder, first_s * NSEC_PER_SEC, (end_s - first_s) * NSEC_PER_SEC,
			 stored_period_restore(block->type, block->period));
}

static int visit_slice(struct slicer *slicer, const struct block_row *rows, size_t nr)
{
	const struct store_slicing *slicing = slicer->slicing;
	_cleanup_(builder_freep) struct builder *builder = NULL;
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	int r = builder_new(slicing->max_bytes, &builder);
	if (r == 0)
		r = fill_slice(slicer, rows, nr, builder);
	if (r < 0)
		return r;
	builder_set_type(builder, slicer->block->type);
	set_time(slicer, second_of(slicer, rows), builder);
	profile = builder_seal(take_ptr(builder));
	forget_starts(profile);
	return profile->nr_samples == 0 ? 0 : slicing->visit(profile, slicing->data);
}

static size_t count_slice(const struct slicer *slicer, size_t first)
{
	uint64_t length = slice_length(slicer);
	uint64_t slice = second_of(slicer, &slicer->rows[first]) / length;
	size_t i = first + 1;

	while (i < slicer->nr_rows && second_of(slicer, &slicer->rows[i]) / length == slice)
		i++;
	return i - first;
}

static int compare_seconds(const void *a, const void *b)
{
	const struct block_row *one = a, *other = b;

	return (one->second > other->second) - (one->second < other->second);
}

/* Blocks. */

static bool wants(uint32_t labels, void *data)
{
	const struct slicer *slicer = data;

	return slicer->is_selected[labels];
}

static int keep_row(const struct block_row *row, void *data)
{
	struct slicer *slicer = data;
	uint64_t second = second_of(slicer, row);

	if (second < slicer->slicing->range.first_s || second >= slicer->slicing->range.end_s)
		return 0;
	int r = array_grow(slicer->rows, slicer->cap_rows, slicer->nr_rows + 1, MAX_ROWS);
	if (r < 0)
		return r == -ENOSPC ? -EBADMSG : r;
	slicer->rows[slicer->nr_rows] = *row;
	slicer->rows[slicer->nr_rows++].value = stored_value_restore(
		slicer->block->type, slicer->block->period, row->value);
	return 0;
}

static int slice_block(const struct store_block *block, const void *data, size_t len, void *context)
{
	struct slicer *slicer = context;
	const struct block_visitor visitor = { wants, keep_row, slicer, false };
	size_t nr = 0;

	if (block->type >= PROFILE_NR_TYPES)
		return 0;
	slicer->block = block;
	slicer->nr_rows = 0;
	int r = stored_unpack(&slicer->unpacker, data, len, &slicer->plain);
	if (r == 0)
		r = block_decode(strbuf_str(&slicer->plain), slicer->plain.len,
				 (uint32_t)slicer->dict.tables[DICT_LABELS].nr_rows,
				 (uint32_t)slicer->dict.tables[DICT_NODES].nr_rows, &visitor);
	if (r == 0 && slicer->nr_rows > 1)
		qsort(slicer->rows, slicer->nr_rows, sizeof(*slicer->rows), compare_seconds);
	for (size_t i = 0; r == 0 && i < slicer->nr_rows; i += nr) {
		nr = count_slice(slicer, i);
		r = visit_slice(slicer, slicer->rows + i, nr);
	}
	return r;
}

static int slice_file(struct slicer *slicer, const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	const struct time_range *range = &slicer->slicing->range;
	int r;

	if ((r = dict_init(&slicer->dict)) < 0 || (r = store_file_open(path, &file)) < 0 ||
	    (r = store_file_begin(file)) < 0 ||
	    (r = stored_dict_read(file, STORE_DICT_SAMPLES, &slicer->dict)) < 0 ||
	    (r = select_labels(slicer)) < 0)
		return r;
	return store_file_read_blocks(file, range->first_s, range->end_s, true, slice_block,
				      slicer);
}

int store_slices_visit(const struct store_reader *reader, const struct store_slicing *slicing,
		       struct strbuf *warnings, uint64_t *left_out)
{
	_cleanup_(slicer_done) struct slicer slicer = {
		.slicing = slicing,
		.left_out = left_out,
		.plain = strbuf_with_max(STORE_FILE_BLOB_MAX),
	};

	for (size_t i = 0; i < reader->nr_spans; i++) {
		const struct store_span *span = &reader->spans[i];

		if (span->end_s <= slicing->range.first_s || span->first_s >= slicing->range.end_s)
			continue;
		int r = slice_file(&slicer, span->path);
		close_dict(&slicer);
		if (r == -ENOMEM || r == -ECANCELED)
			return r;
		if (r < 0)
			strbuf_appendf(warnings, "%s: a part of it is left out: %s\n", span->path,
				       r == -EBADMSG ? "it is damaged" : strerror(-r));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/minute.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/zstd.h"
#include "store/dict_code.h"
#include "store/fold.h"
#include "store/stored_value.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS ((size_t)1 << 20)
#define HEAD_LEVEL 3
#define BLOCK_LEVEL 13
#define LARGE_LEVEL 6 /* of more than LARGE_BYTES, for which the other one takes tens of MB */
#define LARGE_BYTES ((size_t)256 << 10)

int minute_init(struct minute *minute)
{
	*minute = (struct minute){ 0 };
	int r = dict_init(&minute->dict), r2 = timeline_init(&minute->timeline);

	minute->written = minute->in_heads = dict_mark(&minute->dict);
	return r < 0 ? r : r2;
}

void minute_done(struct minute *minute)
{
	dict_done(&minute->dict);
	timeline_done(&minute->timeline);
	for (size_t i = 0; i < minute->nr_series; i++)
		free(minute->series[i].rows.items);
	minute->nr_series = 0;
}

size_t minute_dict_bytes(const struct minute *minute)
{
	return dict_bytes(&minute->dict) + dict_bytes(&minute->timeline.dict);
}

static struct minute_series *find_series(struct minute *minute, const struct profile *profile)
{
	uint64_t period = stored_period(profile);

	for (size_t i = 0; i < minute->nr_series; i++) {
		struct minute_series *series = &minute->series[i];

		if (series->type == profile->type && series->period == period)
			return series;
	}
	if (minute->nr_series == MINUTE_MAX_SERIES)
		return NULL;
	struct minute_series *series = &minute->series[minute->nr_series++];
	*series = (struct minute_series){
		.type = profile->type,
		.period = period,
		.rows = { .max = MAX_ROWS },
	};
	return series;
}

uint64_t minute_add(struct minute *minute, const struct profile *profile, uint64_t second,
		    bool with_cpu)
{
	struct minute_series *series = find_series(minute, profile);
	uint64_t lost = 0;

	/* The clock may go back while the disk refuses the minute. */
	if (!series || (minute->end_s > 0 && second < minute->first_s))
		return stored_nr_samples(profile);
	if (minute->end_s == 0)
		minute->first_s = second;
	int r = ingest_profile(&minute->dict, &series->rows, profile,
			       (uint32_t)(second - minute->first_s), with_cpu, &lost);
	if (second >= minute->end_s)
		minute->end_s = second + 1;
	if (r == 0)
		lost = 0;
	series->nr_samples += stored_nr_samples(profile) - lost;
	return lost;
}

/* The buffers of one write. */
struct buffers {
	struct strbuf plain, packed;
	int level; /* of compression */
	uint64_t nr_bytes; /* of all that was written with them */
};

static void buffers_done(struct buffers *buffers)
{
	strbuf_done(&buffers->plain);
	strbuf_done(&buffers->packed);
}

static struct buffers make_buffers(bool is_head)
{
	return (struct buffers){ .plain = strbuf_with_max(STORE_FILE_BLOB_MAX),
				 .packed = strbuf_with_max(2 * STORE_FILE_BLOB_MAX),
				 .level = is_head ? HEAD_LEVEL : BLOCK_LEVEL };
}

/* Compresses what was appended to `plain`. */
static int pack(struct buffers *buffers)
{
	bool is_large = buffers->plain.len > LARGE_BYTES && buffers->level > LARGE_LEVEL;
	int level = is_large ? LARGE_LEVEL : buffers->level;

	strbuf_clear(&buffers->packed);
	zstd_append_checked(&buffers->packed, strbuf_str(&buffers->plain), buffers->plain.len,
			    level);
	int r = strbuf_error(&buffers->plain);
	if (r == 0)
		r = strbuf_error(&buffers->packed);
	if (r == 0)
		buffers->nr_bytes += buffers->packed.len;
	strbuf_clear(&buffers->plain);
	return r;
}

static int write_dict(struct minute *minute, struct store_file *file, bool is_head,
		      struct buffers *buffers)
{
	dict_encode(&minute->dict, is_head ? &minute->in_heads : &minute->written, is_head,
		    &buffers->plain);
	int r = pack(buffers);
	return r < 0 ? r
		     : store_file_add_dict(file, STORE_DICT_SAMPLES, is_head, buffers->packed.data,
					   buffers->packed.len);
}

static int write_timeline(struct minute *minute, struct store_file *file, bool is_head,
			  struct buffers *buffers)
{
	struct store_timeline_row row = { .is_head = is_head };
	int r;

	timeline_encode_dict(&minute->timeline, is_head, &buffers->plain);
	if ((r = pack(buffers)) < 0 ||
	    (r = store_file_add_dict(file, STORE_DICT_TIMELINE, is_head, buffers->packed.data,
				     buffers->packed.len)) < 0 ||
	    (r = timeline_encode(&minute->timeline, is_head, &buffers->plain, &row.first_s,
				 &row.end_s)) < 0 ||
	    (r = pack(buffers)) < 0)
		return r;
	return row.end_s == 0 ? 0
			      : store_file_add_timeline(file, &row, buffers->packed.data,
							buffers->packed.len);
}

static uint64_t total_of(const struct block_row *rows, size_t nr)
{
	uint64_t total = 0;

	for (size_t i = 0; i < nr; i++)
		total += rows[i].value;
	return total;
}

/* Writes sorted rows of a series. */
static int write_rows(struct store_file *file, const struct block_row *rows,
		      struct store_block *block, struct buffers *buffers)
{
	if (block->nr_rows == 0)
		return 0;
	block->total = total_of(rows, block->nr_rows);
	block_encode(rows, block->nr_rows, &buffers->plain);
	int r = pack(buffers);
	return r < 0 ? r
		     : store_file_add_block(file, block, buffers->packed.data, buffers->packed.len);
}

static struct store_block block_of(const struct minute *minute, const struct minute_series *series)
{
	return (struct store_block){
		.first_s = minute->first_s,
		.end_s = minute->end_s,
		.type = series->type,
		.period = series->period,
		.min_count = 1,
	};
}

/* Writes the rows that are in no head yet, sorted, from a copy. */
static int write_head_rows(const struct minute *minute, const struct minute_series *series,
			   struct store_file *file, struct buffers *buffers)
{
	size_t nr = series->rows.nr - series->nr_in_heads;
	_cleanup_free_ struct block_row *rows = calloc(nr + 1, sizeof(*rows));
	struct store_block block = block_of(minute, series);

	if (!rows)
		return -ENOMEM;
	if (nr)
		memcpy(rows, series->rows.items + series->nr_in_heads, nr * sizeof(*rows));
	block.is_head = true;
	block.nr_rows = block_sort(rows, nr);
	return write_rows(file, rows, &block, buffers);
}

int minute_write_head(struct minute *minute, struct store_file *file, uint64_t *nr_bytes)
{
	_cleanup_(buffers_done) struct buffers buffers = make_buffers(true);
	int r = minute->has_old_heads ? store_file_remove_heads(file) : 0;

	if (r == 0)
		r = write_dict(minute, file, true, &buffers);
	for (size_t i = 0; r == 0 && i < minute->nr_series; i++)
		r = write_head_rows(minute, &minute->series[i], file, &buffers);
	if (r == 0)
		r = write_timeline(minute, file, true, &buffers);
	*nr_bytes += buffers.nr_bytes;
	return r;
}

void minute_settle_head(struct minute *minute)
{
	minute->has_old_heads = false;
	minute->in_heads = dict_mark(&minute->dict);
	for (size_t i = 0; i < minute->nr_series; i++)
		minute->series[i].nr_in_heads = minute->series[i].rows.nr;
	timeline_settle_head(&minute->timeline);
}

static int fold(struct minute *minute, uint64_t min_count, uint64_t *ret_folded)
{
	struct fold_rows blocks[MINUTE_MAX_SERIES];

	for (size_t i = 0; i < minute->nr_series; i++)
		blocks[i] = (struct fold_rows){
			.rows = &minute->series[i].rows,
			.counts_values = minute->series[i].type == PROFILE_CPU,
		};
	int r = fold_rare(&minute->dict, &minute->written, blocks, minute->nr_series, min_count,
			  ret_folded);
	for (size_t i = 0; i < minute->nr_series; i++)
		minute->series[i].folded = blocks[i].folded;
	return r;
}

/* The heads in the file do not fit the rows any more. */
int minute_fold(struct minute *minute, uint64_t min_count, uint64_t *ret_folded)
{
	uint64_t folded = 0;

	minute->has_old_heads = true;
	minute->in_heads = minute->written;
	timeline_forget_heads(&minute->timeline);
	int r = fold(minute, min_count, &folded);
	if (r < 0)
		return r;
	for (size_t i = 0; i < minute->nr_series; i++) {
		struct minute_series *series = &minute->series[i];

		series->rows.nr = block_sort(series->rows.items, series->rows.nr);
		series->nr_in_heads = 0;
	}
	*ret_folded = folded;
	return 0;
}

int minute_write(struct minute *minute, struct store_file *file, uint64_t min_count,
		 uint64_t *nr_bytes)
{
	_cleanup_(buffers_done) struct buffers buffers = make_buffers(false);
	int r = store_file_remove_heads(file);

	if (r == 0)
		r = write_dict(minute, file, false, &buffers);
	for (size_t i = 0; r == 0 && i < minute->nr_series; i++) {
		const struct minute_series *series = &minute->series[i];
		struct store_block block = block_of(minute, series);

		block.nr_rows = series->rows.nr;
		block.min_count = min_count;
		block.folded = series->folded;
		r = write_rows(file, series->rows.items, &block, &buffers);
	}
	if (r == 0)
		r = write_timeline(minute, file, false, &buffers);
	*nr_bytes += buffers.nr_bytes;
	return r;
}

static void empty_samples(struct minute *minute)
{
	for (size_t i = 0; i < minute->nr_series; i++) {
		struct minute_series *series = &minute->series[i];

		series->rows.nr = series->nr_in_heads = 0;
		series->nr_samples = series->folded = 0;
	}
	minute->end_s = 0;
}

void minute_settle(struct minute *minute)
{
	minute->has_old_heads = false;
	minute->written = minute->in_heads = dict_mark(&minute->dict);
	empty_samples(minute);
	timeline_settle(&minute->timeline);
}

void minute_drop(struct minute *minute)
{
	dict_truncate(&minute->dict, &minute->written);
	empty_samples(minute);
}

uint64_t minute_nr_samples(const struct minute *minute)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < minute->nr_series; i++)
		nr += minute->series[i].nr_samples;
	return nr;
}

int minute_restart(struct minute *minute)
{
	struct dict fresh;
	int r = dict_init(&fresh);

	if (r == 0)
		r = timeline_restart(&minute->timeline);
	if (r < 0) {
		dict_done(&fresh);
		return r;
	}
	dict_done(&minute->dict);
	minute->dict = fresh;
	minute->written = minute->in_heads = dict_mark(&minute->dict);
	return 0;
}

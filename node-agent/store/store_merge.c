/* SPDX-License-Identifier: Apache-2.0 */
/* File by file: the dictionary is read, then the blocks of the range are summed up by label set
 * and stack, then the sums are added to the profile. Another thread does the last step, while the
 * next file is read and summed up:
 *
 *	reading		file 1 │ file 2 │ file 3 │
 *	adding			  file 1 │ file 2 │ file 3 */
#include "store/store_reader.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "base/thread.h"
#include "base/zstd.h"
#include "store/block.h"
#include "store/dict_cache.h"
#include "store/period_unit.h"
#include "store/store_file.h"
#include "store/stored_dict.h"
#include "store/stored_value.h"
#include "store/sums.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SELECTED UINT32_MAX
#define NOT_ASKED (UINT32_MAX - 1)

/* The sums of a file on their way into the profile. */
struct adding {
	pthread_t thread;
	bool is_running;
	const struct store_span *span; /* borrowed */
	const struct dict *dict; /* borrowed from the cache */
	struct sums sums;
	struct builder *builder; /* owned */
	uint64_t unit_ns; /* of the builder's values; 0: it has none yet */
	uint64_t nr_left_out; /* in the same unit */
	int result; /* the first error, or 0 */
};

struct merge {
	const struct store_query *query; /* borrowed */
	struct adding adding;
	struct store_answer *answer; /* borrowed */
	struct dict_cache *dicts; /* borrowed */
	struct period_unit unit; /* of `sums` and of the answer */
	uint64_t first_s, end_s; /* of what was found */

	/* Of the current file. */
	struct time_range range; /* that of the query, or the second of a snapshot in it */
	uint64_t snapshot_s; /* 0: there is none */
	uint64_t nr_read; /* value of all samples of the current block that are in the range */
	bool is_last; /* no other one follows */
	struct dict *dict; /* borrowed */
	size_t nr_labels, nr_nodes; /* as the file has them */
	/* Owned; by label set: the one that its samples get, NOT_SELECTED, or NOT_ASKED yet. */
	uint32_t *labels;
	int labels_error; /* the first one of select_labels(), or 0 */
	struct sums sums;
	struct strbuf plain; /* owned */
	struct zstd_unpacker unpacker;
	const struct store_block *block; /* borrowed; the current one */
	uint64_t weight; /* units that a value of its samples counts as; 0: none was read */
};

static void *add_sums(void *data)
{
	struct adding *adding = data;

	if (adding->result == 0)
		adding->result = sums_build(&adding->sums, adding->dict, adding->builder,
					    &adding->nr_left_out);
	sums_done(&adding->sums);
	return NULL;
}

/* Waits until all sums are added. */
static int finish_adding(struct adding *adding)
{
	if (adding->is_running)
		pthread_join(adding->thread, NULL);
	adding->is_running = false;
	return adding->result;
}

static void merge_done(struct merge *merge)
{
	(void)finish_adding(&merge->adding);
	sums_done(&merge->sums);
	free(merge->labels);
	builder_free(merge->adding.builder);
	strbuf_done(&merge->plain);
	zstd_unpacker_done(&merge->unpacker);
}

/* Finds the label set for the samples of another one, of which only the program and the reason are
 * kept. */
static int reduce(struct merge *merge, uint32_t labels, uint32_t *ret_labels)
{
	uint32_t words[LABELS_WORDS], process[PROCESS_WORDS];
	uint32_t reduced[LABELS_WORDS] = { 0 }, program[PROCESS_WORDS] = { 0 };

	memcpy(words, dict_get(merge->dict, DICT_LABELS, labels).words, sizeof(words));
	memcpy(process, dict_get(merge->dict, DICT_PROCESSES, words[LABELS_PROCESS]).words,
	       sizeof(process));
	program[PROCESS_PATH] = process[PROCESS_PATH];
	program[PROCESS_NAME] = process[PROCESS_NAME];
	reduced[LABELS_PROCESS_COMM] = words[LABELS_PROCESS_COMM];
	reduced[LABELS_REASON] = words[LABELS_REASON];
	int r = dict_add(merge->dict, DICT_PROCESSES, program, PROCESS_WORDS,
			 &reduced[LABELS_PROCESS]);
	return r < 0 ? r : dict_add(merge->dict, DICT_LABELS, reduced, LABELS_WORDS, ret_labels);
}

/* A file has ten thousands of label sets, and a second some hundred. So they are selected when a
 * block has them. */
static int init_labels(struct merge *merge)
{
	merge->nr_labels = merge->dict->tables[DICT_LABELS].nr_rows;
	merge->nr_nodes = merge->dict->tables[DICT_NODES].nr_rows;
	merge->labels = calloc(merge->nr_labels + 1, sizeof(*merge->labels));
	if (!merge->labels)
		return -ENOMEM;
	for (size_t i = 0; i < merge->nr_labels; i++)
		merge->labels[i] = NOT_ASKED;
	return 0;
}

static void select_labels(struct merge *merge, uint32_t labels)
{
	int r = 0;

	if (!selector_matches(merge->query->selector, merge->dict, labels))
		merge->labels[labels] = NOT_SELECTED;
	else if (merge->query->with_labels)
		merge->labels[labels] = labels;
	else
		r = reduce(merge, labels, &merge->labels[labels]);
	if (r < 0 && merge->labels_error == 0)
		merge->labels_error = r;
}

static bool wants(uint32_t labels, void *data)
{
	struct merge *merge = data;

	if (merge->labels[labels] == NOT_ASKED)
		select_labels(merge, labels);
	return merge->labels[labels] != NOT_SELECTED;
}

/* Samples of all periods are counted in one unit, which changes if it does not fit those of a block
 * that has any. */
static void fit_unit(struct merge *merge)
{
	uint64_t period = stored_period_restore(merge->block->type, merge->block->period);
	uint64_t factor = period_unit_fit(&merge->unit, period);

	if (factor > 1) {
		sums_scale(&merge->sums, factor);
		merge->answer->folded *= factor;
	}
	merge->weight = period_unit_weight(&merge->unit, period);
}

static int visit_row(const struct block_row *row, void *data)
{
	struct merge *merge = data;
	enum profile_type type = merge->query->type;
	uint64_t second = merge->block->first_s + row->second;

	if (merge->labels_error < 0)
		return merge->labels_error;
	if (second < merge->range.first_s || second >= merge->range.end_s)
		return 0;
	if (merge->weight == 0)
		fit_unit(merge);
	merge->nr_read += row->value;
	return sums_add(&merge->sums, merge->labels[row->labels], row->node,
			merge->weight *
				stored_value_restore(type, merge->block->period, row->value));
}

/* Returns for how much of the value that was read the stacks are not whole, at most. A block of
 * snapshots has several ones, of which one was read. */
static uint64_t folded_of(const struct merge *merge)
{
	const struct store_block *block = merge->block;

	if (!profile_type_is_snapshot(block->type))
		return block->folded;
	return (uint64_t)((double)block->folded * (double)merge->nr_read /
			  ((double)block->total + 1));
}

static int read_block(const struct store_block *block, const void *data, size_t len, void *context)
{
	struct merge *merge = context;
	const struct time_range *range = &merge->range;
	const struct block_visitor visitor = {
		wants,
		visit_row,
		merge,
		.joins_seconds = block->first_s >= range->first_s && block->end_s <= range->end_s,
	};

	if (block->type != merge->query->type)
		return 0;
	int r = stored_unpack(&merge->unpacker, data, len, &merge->plain);
	if (r < 0)
		return r;
	merge->block = block;
	merge->nr_read = merge->weight = 0;
	r = block_decode(strbuf_str(&merge->plain), merge->plain.len, (uint32_t)merge->nr_labels,
			 (uint32_t)merge->nr_nodes, &visitor);
	if (r < 0)
		return r;
	merge->answer->folded += merge->weight *
				 stored_value_restore(block->type, block->period, folded_of(merge));
	merge->first_s = min_u64(merge->first_s, max_u64(block->first_s, range->first_s));
	merge->end_s = max_u64(merge->end_s, min_u64(block->end_s, range->end_s));
	return 0;
}

/* The last snapshot that has any of the selected samples. */

static int note_second(const struct block_row *row, void *data)
{
	struct merge *merge = data;
	uint64_t second = merge->block->first_s + row->second;

	if (merge->labels_error < 0)
		return merge->labels_error;
	if (second >= merge->range.first_s && second < merge->range.end_s)
		merge->snapshot_s = max_u64(merge->snapshot_s, second);
	return 0;
}

static int search_block(const struct store_block *block, const void *data, size_t len,
			void *context)
{
	struct merge *merge = context;
	const struct block_visitor visitor = { wants, note_second, merge, false };

	if (block->type != merge->query->type || block->end_s <= merge->snapshot_s)
		return 0;
	int r = stored_unpack(&merge->unpacker, data, len, &merge->plain);
	if (r < 0)
		return r;
	merge->block = block;
	return block_decode(strbuf_str(&merge->plain), merge->plain.len, (uint32_t)merge->nr_labels,
			    (uint32_t)merge->nr_nodes, &visitor);
}

static int find_snapshot(struct merge *merge, struct store_file *file)
{
	struct time_range *range = &merge->range;

	int r = store_file_read_blocks(file, range->first_s, range->end_s, true, search_block,
				       merge);
	if (r == 0)
		*range = (struct time_range){ merge->snapshot_s,
					      merge->snapshot_s > 0 ? merge->snapshot_s + 1 : 0 };
	return r;
}

/* Files. */

static int read_gap(const struct store_gap *gap, void *context)
{
	struct merge *merge = context;

	if (gap->end_s > merge->query->range.first_s && gap->first_s < merge->query->range.end_s)
		merge->answer->nr_lost += gap->nr_samples;
	return 0;
}

static int read_file(struct merge *merge, const struct store_span *span)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	const struct time_range *range = &merge->range;
	uint64_t last;
	int r;

	merge->range = merge->query->range;
	merge->snapshot_s = 0;
	if ((r = store_file_open(span->path, &file)) < 0 || (r = store_file_begin(file)) < 0 ||
	    (r = store_file_read_gaps(file, read_gap, merge)) < 0 ||
	    (r = store_file_find_part(file, range->first_s, range->end_s, &last)) < 0 ||
	    (r = dict_cache_get(merge->dicts, file, span->path, last, &merge->dict)) < 0)
		return r;
	merge->dict->host = span->host;
	r = init_labels(merge);
	if (r == 0 && profile_type_is_snapshot(merge->query->type))
		r = find_snapshot(merge, file);
	return r < 0 ? r
		     : store_file_read_blocks(file, range->first_s, range->end_s, true, read_block,
					      merge);
}

/* The sums of the next file may have a smaller unit than those of the files before. */
static void use_unit(struct adding *adding, uint64_t unit_ns)
{
	if (adding->unit_ns > unit_ns) {
		builder_scale(adding->builder, adding->unit_ns / unit_ns);
		adding->nr_left_out *= adding->unit_ns / unit_ns;
	}
	adding->unit_ns = unit_ns;
}

/* Passes on the sums of the current file. Without a thread, they are added at once. */
static int begin_adding(struct merge *merge, const struct store_span *span)
{
	struct adding *adding = &merge->adding;
	int r = finish_adding(adding);

	if (r < 0)
		return r;
	use_unit(adding, merge->unit.ns);
	adding->span = span;
	adding->dict = merge->dict;
	adding->sums = merge->sums;
	merge->sums = (struct sums){ 0 };
	if (merge->is_last || thread_start("merge", 0, add_sums, adding, &adding->thread) < 0)
		add_sums(adding);
	else
		adding->is_running = true;
	return adding->is_running ? 0 : adding->result;
}

static void end_file(struct merge *merge)
{
	sums_done(&merge->sums);
	free(merge->labels);
	merge->labels = NULL;
	merge->labels_error = 0;
	merge->dict = NULL;
}

/* What was read before the damage counts. */
static int add_span(struct merge *merge, const struct store_span *span, struct strbuf *warnings)
{
	/* The dictionary of a file that is named twice changes when it is read again. */
	if (merge->adding.span && strcmp(merge->adding.span->path, span->path) == 0)
		(void)finish_adding(&merge->adding);
	int r = read_file(merge, span);

	if (r < 0 && r != -ENOMEM) {
		strbuf_appendf(warnings, "%s: a part of it is left out: %s\n", span->path,
			       r == -EBADMSG ? "it is damaged" : strerror(-r));
		r = 0;
	}
	if (r == 0 && merge->dict)
		r = begin_adding(merge, span);
	end_file(merge);
	return r;
}

static bool overlaps(const struct store_span *span, const struct time_range *range)
{
	return span->end_s > range->first_s && span->first_s < range->end_s;
}

static int add_spans(struct merge *merge, const struct store_reader *reader,
		     struct strbuf *warnings)
{
	const struct time_range *range = &merge->query->range;
	size_t nr_left = 0;
	int r = 0;

	for (size_t i = 0; i < reader->nr_spans; i++)
		nr_left += overlaps(&reader->spans[i], range);
	for (size_t i = 0; r == 0 && i < reader->nr_spans; i++) {
		if (!overlaps(&reader->spans[i], range))
			continue;
		merge->is_last = --nr_left == 0;
		r = add_span(merge, &reader->spans[i], warnings);
	}
	return r < 0 ? r : finish_adding(&merge->adding);
}

/* Snapshots cannot be added up, only those of several hosts. The files of a host are in the order
 * of time. */
static int add_snapshots(struct merge *merge, const struct store_reader *reader,
			 struct strbuf *warnings)
{
	const char *found = NULL;
	int r = 0;

	for (size_t i = reader->nr_spans; r == 0 && i-- > 0;) {
		const struct store_span *span = &reader->spans[i];

		if (!overlaps(span, &merge->query->range) ||
		    (found && strcmp(span->host, found) == 0))
			continue;
		r = add_span(merge, span, warnings);
		if (merge->snapshot_s > 0)
			found = span->host;
	}
	return r < 0 ? r : finish_adding(&merge->adding);
}

static struct profile *seal(struct merge *merge)
{
	struct builder *builder = take_ptr(merge->adding.builder);

	builder_set_type(builder, merge->query->type);
	builder_set_time(builder, merge->first_s * NSEC_PER_SEC,
			 (merge->end_s - merge->first_s) * NSEC_PER_SEC, merge->unit.ns);
	return builder_seal(builder);
}

int store_reader_merge(const struct store_reader *reader, const struct store_query *query,
		       struct strbuf *warnings, struct store_answer *ret_answer)
{
	struct store_answer answer = { 0 };
	_cleanup_(merge_done) struct merge merge = {
		.query = query,
		.answer = &answer,
		.dicts = reader->dicts,
		.first_s = UINT64_MAX,
		.plain = strbuf_with_max(STORE_FILE_BLOB_MAX),
	};

	int r = builder_new(query->max_bytes, &merge.adding.builder);
	if (r == 0)
		r = profile_type_is_snapshot(query->type) ? add_snapshots(&merge, reader, warnings)
							  : add_spans(&merge, reader, warnings);
	if (r < 0)
		return r;
	if (builder_peek(merge.adding.builder)->nr_samples == 0)
		return -ENOENT;
	answer.nr_left_out += merge.adding.nr_left_out;
	answer.profile = seal(&merge);
	*ret_answer = answer;
	return 0;
}

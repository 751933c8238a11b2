/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline_source.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "store/block.h"
#include "store/store_file.h"
#include "store/stored_dict.h"
#include "store/stored_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_SELECTED 1
#define FIRST_LINE 2
#define NUMBER_BYTES 24
#define KIBIBYTE 1024
#define ALL_NAME "all"

static const enum track_kind kinds[] = {
	[TIMELINE_SAMPLES] = TRACK_GROUPS,
	[TIMELINE_THROTTLED] = TRACK_THROTTLED,
	[TIMELINE_VITALS] = TRACK_VITALS,
	[TIMELINE_CPUS] = TRACK_CPUS,
	[TIMELINE_SLOTS] = TRACK_SLOTS,
	[TIMELINE_GPUS] = TRACK_GPUS,
	[TIMELINE_GPU_MEMORY] = TRACK_GPUS,
	[TIMELINE_GPU_USE] = TRACK_GPU_USE,
	[TIMELINE_GPU_USE_MEMORY] = TRACK_GPU_USE_MEMORY,
};

static bool is_of_devices(const struct timeline_source *source)
{
	return kinds[source->query->what] == TRACK_GPUS;
}

static bool is_of_gpus(const struct timeline_source *source)
{
	return is_of_devices(source) || source->query->what == TIMELINE_GPU_USE ||
	       source->query->what == TIMELINE_GPU_USE_MEMORY;
}

static uint64_t nr_range_seconds(const struct timeline_source *source)
{
	return source->range.end_s - source->range.first_s;
}

static int add_vital_lines(struct timeline_lines *lines)
{
	uint32_t index;

	for (enum vital vital = 0; vital < VITAL_NR; vital++) {
		int r = timeline_lines_get(lines, vital_info(vital)->name, &index);

		if (r < 0)
			return r;
		lines->items[index].is_known = calloc(lines->nr_steps, sizeof(bool));
		if (!lines->items[index].is_known)
			return -ENOMEM;
	}
	return 0;
}

/* Lines that exist whatever is in the files, in their order. */
static int add_fixed_lines(struct timeline_source *source)
{
	char name[NUMBER_BYTES];
	uint32_t index;
	int r = 0;

	if (source->query->what == TIMELINE_VITALS)
		r = add_vital_lines(&source->lines);
	if (source->query->what == TIMELINE_SLOTS) {
		for (uint64_t i = 0; r == 0 && i < SLOTS_NR; i++) {
			snprintf(name, sizeof(name), "%" PRIu64, i * SLOT_NS / NSEC_PER_MSEC);
			r = timeline_lines_get(&source->lines, name, &index);
		}
	}
	return r;
}

static bool is_of_snapshots(const struct timeline_source *source)
{
	return source->query->what == TIMELINE_SAMPLES &&
	       profile_type_is_snapshot(source->query->type);
}

int timeline_source_init(struct timeline_source *source, const struct store_timeline_query *query,
			 const struct time_range *range, const struct store_timeline *timeline)
{
	size_t nr_steps = timeline->nr_steps;
	bool has_vitals = query->what == TIMELINE_VITALS;

	*source = (struct timeline_source){
		.query = query,
		.by = label_key_of(query->by ? query->by : ""),
		.range = *range,
		.first_s = timeline->first_s,
		.step_s = timeline->step_s,
		.lines.nr_steps = nr_steps,
		.plain = strbuf_with_max(STORE_FILE_BLOB_MAX),
	};
	if (nr_range_seconds(source) > TIMELINE_MAX_NUMBERS)
		return -ENOSPC;
	int r = add_fixed_lines(source);
	if (r == 0 && is_of_snapshots(source))
		r = snapshot_holds_init(&source->holds, range, source->first_s, source->step_s);
	if (r == 0 && is_of_gpus(source))
		r = timeline_means_init(&source->means, nr_steps, nr_range_seconds(source));
	if (r < 0)
		return r;
	source->is_known = calloc(nr_range_seconds(source) + 1, sizeof(*source->is_known));
	source->cpu_lines = calloc(TRACK_MAX_CPUS, sizeof(*source->cpu_lines));
	source->sums = calloc(has_vitals ? VITAL_NR * nr_steps : 1, sizeof(*source->sums));
	source->counts = calloc(has_vitals ? VITAL_NR * nr_steps : 1, sizeof(*source->counts));
	return source->is_known && source->cpu_lines && source->sums && source->counts ? 0
										       : -ENOMEM;
}

void timeline_source_done(struct timeline_source *source)
{
	timeline_lines_done(&source->lines);
	snapshot_holds_done(&source->holds);
	timeline_means_done(&source->means);
	free(source->cpu_lines);
	free(source->is_known);
	free(source->sums);
	free(source->counts);
	strbuf_done(&source->plain);
	zstd_unpacker_done(&source->unpacker);
}

static bool is_in_range(const struct timeline_source *source, uint64_t second)
{
	return second >= source->range.first_s && second < source->range.end_s;
}

static size_t step_of(const struct timeline_source *source, uint64_t second)
{
	return (second - source->first_s) / source->step_s;
}

/* Returns how many units of the lines a sample of a period counts as. The unit changes if it does
 * not fit the period. */
static uint64_t weight_of(struct timeline_source *source, uint64_t period)
{
	uint64_t factor = period_unit_fit(&source->unit, period);

	if (factor > 1)
		timeline_lines_scale(&source->lines, factor);
	return period_unit_weight(&source->unit, period);
}

static int find_label_line(struct timeline_source *source, uint32_t labels, uint32_t *ret_line)
{
	char number[LABEL_NUMBER_BYTES];
	const char *name = ALL_NAME;
	uint32_t index;

	if (!selector_matches(source->query->selector, &source->dict, labels)) {
		*ret_line = NOT_SELECTED;
		return 0;
	}
	if (source->query->by)
		name = label_value(&source->dict, labels, &source->by, number);
	int r = timeline_lines_get(&source->lines, name, &index);
	if (r == 0)
		*ret_line = index + FIRST_LINE;
	return r;
}

/* Adds the value of a label set. */
static int add_by_label(struct timeline_source *source, uint32_t labels, uint64_t second,
			uint64_t value)
{
	uint32_t *line = &source->label_lines[labels];
	int r = *line == 0 ? find_label_line(source, labels, line) : 0;

	if (r < 0 || *line < FIRST_LINE)
		return r;
	if (is_of_gpus(source))
		return timeline_means_add(&source->means, *line - FIRST_LINE,
					  step_of(source, second), value);
	if (is_of_snapshots(source))
		snapshot_holds_add(&source->holds, &source->lines, *line - FIRST_LINE, second,
				   value);
	else
		timeline_lines_add(&source->lines, *line - FIRST_LINE, step_of(source, second),
				   value);
	return 0;
}

static int add_by_cpu(struct timeline_source *source, uint32_t cpu, uint64_t second, uint64_t value)
{
	uint32_t *line = &source->cpu_lines[cpu], index;
	char name[NUMBER_BYTES];

	if (*line == 0) {
		snprintf(name, sizeof(name), "%" PRIu32, cpu);
		int r = timeline_lines_get(&source->lines, name, &index);
		if (r < 0)
			return r;
		*line = index + 1;
	}
	timeline_lines_add(&source->lines, *line - 1, step_of(source, second), value);
	return 0;
}

/* Adds what is known of a GPU, if the query asks for it. */
static int add_gpu(struct timeline_source *source, uint32_t row, uint64_t second, uint64_t value)
{
	static const char *const suffixes[] = {
		[TRACK_GPU_BUSY] = "",
		[TRACK_GPU_MEMORY_USED] = " used",
		[TRACK_GPU_MEMORY_TOTAL] = " total",
	};
	uint32_t what = row % TRACK_GPU_ROWS, index;
	char name[NUMBER_BYTES];

	if (what >= array_len(suffixes) ||
	    (what == TRACK_GPU_BUSY) != (source->query->what == TIMELINE_GPUS))
		return 0;
	snprintf(name, sizeof(name), "%" PRIu32 "%s", row / TRACK_GPU_ROWS, suffixes[what]);
	int r = timeline_lines_get(&source->lines, name, &index);
	if (r < 0)
		return r;
	return timeline_means_add(&source->means, index, step_of(source, second),
				  what == TRACK_GPU_BUSY ? min_u64(value, 100) : value * KIBIBYTE);
}

static uint64_t from_file_unit(enum vital vital, uint64_t value)
{
	const uint64_t factors[] = {
		[VITAL_NS] = NSEC_PER_USEC, [VITAL_BYTES] = KIBIBYTE, [VITAL_COUNT] = 1
	};
	uint64_t result;

	return __builtin_mul_overflow(value, factors[vital_info(vital)->unit], &result) ? UINT64_MAX
											: result;
}

/* Vitals that a newer version added are left out. */
static void add_vital(struct timeline_source *source, uint32_t vital, uint64_t second,
		      uint64_t value)
{
	if (vital >= VITAL_NR)
		return;
	size_t at = vital * source->lines.nr_steps + step_of(source, second);
	source->sums[at] += from_file_unit((enum vital)vital, value);
	source->counts[at]++;
}

static bool wants_track(const struct track_key *key, void *data)
{
	const struct timeline_source *source = data;

	/* Each second has vitals, so they tell which seconds are known. */
	if (key->kind == TRACK_VITALS)
		return true;
	/* GPUs tell in which seconds their use is known. */
	if (key->kind == TRACK_GPUS && is_of_gpus(source))
		return true;
	if (key->kind != kinds[source->query->what] || source->is_from_samples)
		return false;
	return key->kind == TRACK_THROTTLED || is_of_gpus(source) ||
	       key->type == source->query->type;
}

static int visit_number(const struct track_key *key, const struct block_row *row, void *data)
{
	struct timeline_source *source = data;
	uint64_t second = source->base_s + row->second, weight;

	if (!is_in_range(source, second))
		return 0;
	source->is_known[second - source->range.first_s] = true;
	if (key->kind == TRACK_GPUS)
		timeline_means_note(&source->means, second - source->range.first_s,
				    step_of(source, second));
	if (key->kind != kinds[source->query->what])
		return 0;
	weight = weight_of(source, key->period);
	switch (key->kind) {
	case TRACK_VITALS:
		add_vital(source, row->labels, second, row->value);
		return 0;
	case TRACK_GROUPS:
		return add_by_label(source, row->labels, second, weight * row->value);
	case TRACK_THROTTLED:
		return add_by_label(source, row->labels, second, row->value * NSEC_PER_USEC);
	case TRACK_GPUS:
		return add_gpu(source, row->labels, second, row->value);
	case TRACK_GPU_USE:
		return add_by_label(source, row->labels, second, row->value);
	case TRACK_GPU_USE_MEMORY:
		return add_by_label(source, row->labels, second, row->value * KIBIBYTE);
	case TRACK_CPUS:
		return add_by_cpu(source, row->labels, second, weight * row->value);
	default:
		timeline_lines_add(&source->lines, row->labels, step_of(source, second),
				   weight * row->value);
		return 0;
	}
}

static int read_row(const struct store_timeline_row *row, const void *data, size_t len,
		    void *context)
{
	struct timeline_source *source = context;
	const struct track_visitor visitor = { wants_track, visit_number, source };
	int r = stored_unpack(&source->unpacker, data, len, &source->plain);

	if (r < 0)
		return r;
	source->base_s = row->first_s;
	return timeline_decode(strbuf_str(&source->plain), source->plain.len,
			       (uint32_t)source->dict.tables[DICT_LABELS].nr_rows, &visitor);
}

/* Samples themselves. */

static bool wants_labels(uint32_t labels, void *data)
{
	const struct timeline_source *source = data;

	return source->label_lines[labels] != NOT_SELECTED;
}

static int visit_sample(const struct block_row *row, void *data)
{
	struct timeline_source *source = data;
	uint64_t second = source->base_s + row->second;

	if (!is_in_range(source, second))
		return 0;
	source->is_known[second - source->range.first_s] = true;
	if (source->block_weight == 0)
		source->block_weight = weight_of(
			source, stored_period_restore(source->query->type, source->block_period));
	return add_by_label(source, row->labels, second,
			    source->block_weight * stored_value_restore(source->query->type,
									source->block_period,
									row->value));
}

static bool wants_all(uint32_t labels, void *data)
{
	(void)labels;
	(void)data;
	return true;
}

static int note_snapshot(const struct block_row *row, void *data)
{
	struct timeline_source *source = data;

	snapshot_holds_note(&source->holds, source->base_s + row->second);
	return 0;
}

static int note_snapshots(const struct store_block *block, const void *data, size_t len,
			  void *context)
{
	struct timeline_source *source = context;
	const struct block_visitor visitor = { wants_all, note_snapshot, source, false };

	if (block->type != source->query->type)
		return 0;
	int r = stored_unpack(&source->unpacker, data, len, &source->plain);
	if (r < 0)
		return r;
	source->base_s = block->first_s;
	return block_decode(strbuf_str(&source->plain), source->plain.len, UINT32_MAX, UINT32_MAX,
			    &visitor);
}

static int find_snapshots(struct timeline_source *source, const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = store_file_open(path, &file);
	if (r == 0)
		r = store_file_begin(file);
	return r < 0 ? r
		     : store_file_read_blocks(file, source->range.first_s, source->range.end_s,
					      true, note_snapshots, source);
}

/* A snapshot of a host holds until the next one, whatever is selected of it. */
void timeline_source_begin_host(struct timeline_source *source, const struct store_span *spans,
				size_t nr)
{
	if (!is_of_snapshots(source))
		return;
	snapshot_holds_clear(&source->holds);
	for (size_t i = 0; i < nr; i++)
		if (find_snapshots(source, spans[i].path) < 0)
			log_debug("cannot find all snapshots in %s", spans[i].path);
	snapshot_holds_settle(&source->holds);
}

static int read_block(const struct store_block *block, const void *data, size_t len, void *context)
{
	struct timeline_source *source = context;
	const struct block_visitor visitor = { wants_labels, visit_sample, source, false };

	if (block->type != source->query->type)
		return 0;
	int r = stored_unpack(&source->unpacker, data, len, &source->plain);
	if (r < 0)
		return r;
	source->block_weight = 0;
	source->block_period = block->period;
	source->base_s = block->first_s;
	return block_decode(strbuf_str(&source->plain), source->plain.len,
			    (uint32_t)source->dict.tables[DICT_LABELS].nr_rows,
			    (uint32_t)source->dict.tables[DICT_NODES].nr_rows, &visitor);
}

/* Without a timeline, the seconds of blocks are those that are known. */
static int see_block(const struct store_block *block, const void *data, size_t len, void *context)
{
	struct timeline_source *source = context;
	uint64_t first_s = max_u64(block->first_s, source->range.first_s);
	uint64_t end_s = min_u64(block->end_s, source->range.end_s);

	(void)data;
	(void)len;
	for (uint64_t second = first_s; second < end_s; second++)
		source->is_known[second - source->range.first_s] = true;
	return 0;
}

/* Files. */

static bool needs_samples(const struct timeline_source *source, const struct store_file *file)
{
	const struct store_timeline_query *query = source->query;

	if (query->what != TIMELINE_SAMPLES)
		return false;
	return query->type != PROFILE_CPU || !store_file_has_timeline(file) ||
	       !selector_is_of_programs(query->selector) ||
	       (query->by && !label_is_of_program(&source->by));
}

static int read_dict(struct timeline_source *source, struct store_file *file, enum store_dict which)
{
	int r = stored_dict_read(file, which, &source->dict);

	if (r < 0)
		return r;
	source->label_lines = calloc(source->dict.tables[DICT_LABELS].nr_rows + 1,
				     sizeof(*source->label_lines));
	return source->label_lines ? 0 : -ENOMEM;
}

/* Returns 1 if the selector leaves the host of the file out, else 0. */
static int is_left_out(struct timeline_source *source)
{
	const struct dict_mark mark = dict_mark(&source->dict);
	const uint32_t words[LABELS_WORDS] = { 0 };
	uint32_t labels;

	if (!selector_is_of_hosts(source->query->selector))
		return 0;
	int r = dict_add(&source->dict, DICT_LABELS, words, LABELS_WORDS, &labels);
	if (r == 0)
		r = !selector_matches(source->query->selector, &source->dict, labels);
	dict_truncate(&source->dict, &mark);
	return r;
}

static int read_file(struct timeline_source *source, const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	const uint64_t first_s = source->range.first_s, end_s = source->range.end_s;
	int r;

	if ((r = store_file_open(path, &file)) < 0 || (r = store_file_begin(file)) < 0)
		return r;
	source->is_from_samples = needs_samples(source, file);
	r = read_dict(source, file,
		      source->is_from_samples ? STORE_DICT_SAMPLES : STORE_DICT_TIMELINE);
	if (r == 0 && source->is_from_samples)
		r = store_file_read_blocks(file, first_s, end_s, true, read_block, source);
	if (r == 0 && store_file_has_timeline(file))
		r = store_file_read_timeline(file, first_s, end_s, true, read_row, source);
	else if (r == 0)
		r = store_file_read_blocks(file, first_s, end_s, false, see_block, source);
	return r;
}

int timeline_source_read(struct timeline_source *source, const struct store_span *span)
{
	int r = dict_init(&source->dict);

	source->dict.host = span->host;
	if (r == 0)
		r = is_left_out(source);
	if (r == 0)
		r = read_file(source, span->path);
	free(source->label_lines);
	source->label_lines = NULL;
	dict_done(&source->dict);
	return r < 0 ? r : 0;
}

/* Hosts are summed up; the seconds of one are averaged. */
static void add_means(struct timeline_source *source)
{
	size_t nr_steps = source->lines.nr_steps;

	for (uint32_t vital = 0; vital < VITAL_NR; vital++) {
		for (size_t step = 0; step < nr_steps; step++) {
			size_t at = vital * nr_steps + step;

			if (source->counts[at] == 0)
				continue;
			timeline_lines_add(&source->lines, vital, step,
					   source->sums[at] / source->counts[at]);
			source->lines.items[vital].is_known[step] = true;
			source->vitals_seen |= UINT32_C(1) << vital;
			source->sums[at] = source->counts[at] = 0;
		}
	}
}

bool timeline_source_end_host(struct timeline_source *source, uint32_t *nr_seconds)
{
	bool has_any = false;

	for (uint64_t i = 0; i < nr_range_seconds(source); i++) {
		if (!source->is_known[i])
			continue;
		nr_seconds[step_of(source, source->range.first_s + i)]++;
		source->is_known[i] = false;
		has_any = true;
	}
	if (source->query->what == TIMELINE_VITALS)
		add_means(source);
	if (is_of_gpus(source))
		timeline_means_settle(&source->means, &source->lines, is_of_devices(source));
	return has_any;
}

int timeline_source_finish(struct timeline_source *source)
{
	if (!is_of_gpus(source))
		return 0;
	return timeline_means_finish(&source->means, &source->lines, is_of_devices(source));
}

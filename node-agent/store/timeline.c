/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "store/dict_code.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS ((size_t)1 << 20) /* of a track */
#define KIBIBYTE 1024

int timeline_init(struct timeline *timeline)
{
	*timeline = (struct timeline){ 0 };
	int r = dict_init(&timeline->dict);

	timeline->written = timeline->in_heads = dict_mark(&timeline->dict);
	return r;
}

void timeline_done(struct timeline *timeline)
{
	dict_done(&timeline->dict);
	for (size_t i = 0; i < timeline->nr_tracks; i++)
		free(timeline->tracks[i].rows.items);
	timeline->nr_tracks = 0;
}

static struct timeline_track *find_track(struct timeline *timeline, const struct track_key *key)
{
	for (size_t i = 0; i < timeline->nr_tracks; i++) {
		struct timeline_track *track = &timeline->tracks[i];

		if (track->key.kind == key->kind && track->key.type == key->type &&
		    track->key.period == key->period)
			return track;
	}
	if (timeline->nr_tracks == TIMELINE_MAX_TRACKS)
		return NULL;
	struct timeline_track *track = &timeline->tracks[timeline->nr_tracks++];
	*track = (struct timeline_track){ .key = *key, .rows.max = MAX_ROWS };
	return track;
}

static void add(struct timeline *timeline, const struct track_key *key, uint32_t number,
		uint64_t second, uint64_t value)
{
	struct timeline_track *track = find_track(timeline, key);
	struct block_rows *rows = track ? &track->rows : NULL;

	if (!rows || second > UINT32_MAX ||
	    array_grow(rows->items, rows->cap, rows->nr + 1, rows->max) < 0) {
		timeline->nr_dropped++;
		return;
	}
	rows->items[rows->nr++] =
		(struct block_row){ .labels = number, .second = (uint32_t)second, .value = value };
	timeline->nr_rows++;
}

static uint64_t to_file_unit(enum vital vital, uint64_t value)
{
	switch (vital_info(vital)->unit) {
	case VITAL_NS:
		return value / NSEC_PER_USEC;
	case VITAL_BYTES:
		return value / KIBIBYTE;
	default:
		return value;
	}
}

void timeline_add_vitals(struct timeline *timeline, uint64_t second, const struct vitals *vitals)
{
	const struct track_key key = { .kind = TRACK_VITALS };

	for (enum vital vital = 0; vital < VITAL_NR; vital++)
		if (vitals_has(vitals, vital))
			add(timeline, &key, vital, second,
			    to_file_unit(vital, vitals->values[vital]));
}

void timeline_add_series(struct timeline *timeline, uint64_t second,
			 const struct second_series *series)
{
	struct track_key key = { TRACK_GROUPS, series->type, series->period };

	for (size_t i = 0; i < series->nr_groups; i++)
		add(timeline, &key, series->groups[i].labels, second, series->groups[i].value);
	key.kind = TRACK_CPUS;
	for (size_t i = 0; i < series->nr_cpus; i++)
		add(timeline, &key, series->cpus[i].cpu, second, series->cpus[i].value);
	key.kind = TRACK_SLOTS;
	for (uint32_t i = 0; i < SLOTS_NR; i++)
		if (series->slots.counts[i] > 0)
			add(timeline, &key, i, second, series->slots.counts[i]);
}

void timeline_add_throttling(struct timeline *timeline, uint64_t second,
			     const struct second_throttling *throttling)
{
	const struct track_key key = { .kind = TRACK_THROTTLED };

	add(timeline, &key, throttling->labels, second, throttling->throttled_ns / NSEC_PER_USEC);
}

/* What could not be read has no row: a gap. */
void timeline_add_gpu(struct timeline *timeline, uint64_t second, uint32_t index,
		      const struct gpu_device *device)
{
	const struct track_key key = { .kind = TRACK_GPUS };
	uint32_t row = index * TRACK_GPU_ROWS;

	if (device->has & GPU_HAS_UTILIZATION)
		add(timeline, &key, row + TRACK_GPU_BUSY, second, device->utilization);
	if (!(device->has & GPU_HAS_MEMORY))
		return;
	add(timeline, &key, row + TRACK_GPU_MEMORY_USED, second, device->memory_used / KIBIBYTE);
	add(timeline, &key, row + TRACK_GPU_MEMORY_TOTAL, second, device->memory_total / KIBIBYTE);
}

void timeline_add_gpu_use(struct timeline *timeline, uint64_t second, uint32_t labels,
			  uint64_t percent, uint64_t memory_bytes)
{
	struct track_key key = { .kind = TRACK_GPU_USE };

	add(timeline, &key, labels, second, percent);
	key.kind = TRACK_GPU_USE_MEMORY;
	add(timeline, &key, labels, second, memory_bytes / KIBIBYTE);
}

/* Few cgroups are throttled or use GPUs, so the label sets have no index by cgroup. */
int timeline_find_cgroup(struct timeline *timeline, uint64_t cgroup_id, uint32_t *ret_labels)
{
	const uint32_t low = (uint32_t)cgroup_id, high = (uint32_t)(cgroup_id >> 32);
	uint32_t words[LABELS_WORDS] = { [LABELS_CGROUP_LOW] = low, [LABELS_CGROUP_HIGH] = high };

	for (size_t i = timeline->dict.tables[DICT_LABELS].nr_rows; i-- > 0;) {
		const uint32_t *known = dict_get(&timeline->dict, DICT_LABELS, (uint32_t)i).words;

		if (known[LABELS_CGROUP_LOW] == low && known[LABELS_CGROUP_HIGH] == high) {
			words[LABELS_RESOURCE] = known[LABELS_RESOURCE];
			break;
		}
	}
	return dict_add(&timeline->dict, DICT_LABELS, words, LABELS_WORDS, ret_labels);
}

/* Rows before this one are not encoded. */
static size_t first_row(const struct timeline_track *track, bool is_head)
{
	return is_head ? track->nr_in_heads : 0;
}

static void find_range(const struct timeline *timeline, bool is_head, uint64_t *ret_first_s,
		       uint64_t *ret_end_s)
{
	uint64_t first_s = UINT64_MAX, end_s = 0;

	for (size_t i = 0; i < timeline->nr_tracks; i++) {
		const struct timeline_track *track = &timeline->tracks[i];

		for (size_t k = first_row(track, is_head); k < track->rows.nr; k++) {
			uint64_t second = track->rows.items[k].second;

			first_s = min_u64(first_s, second);
			end_s = max_u64(end_s, second + 1);
		}
	}
	*ret_first_s = end_s ? first_s : 0;
	*ret_end_s = end_s;
}

/* Encodes a copy, since the rows stay until the file has them. */
static int encode_track(const struct timeline_track *track, size_t first, uint64_t first_s,
			struct strbuf *out)
{
	size_t nr = track->rows.nr - first;
	_cleanup_free_ struct block_row *rows = calloc(nr + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		rows[i] = track->rows.items[first + i];
		rows[i].second -= (uint32_t)first_s;
	}
	nr = block_sort(rows, nr);
	if (nr > 0)
		timeline_encode_track(&track->key, rows, nr, out);
	return 0;
}

int timeline_encode(const struct timeline *timeline, bool is_head, struct strbuf *out,
		    uint64_t *ret_first_s, uint64_t *ret_end_s)
{
	uint64_t first_s, end_s;
	int r = 0;

	find_range(timeline, is_head, &first_s, &end_s);
	for (size_t i = 0; r == 0 && i < timeline->nr_tracks; i++) {
		const struct timeline_track *track = &timeline->tracks[i];

		r = encode_track(track, first_row(track, is_head), first_s, out);
	}
	if (r < 0)
		return r;
	*ret_first_s = first_s;
	*ret_end_s = end_s;
	return 0;
}

void timeline_encode_dict(struct timeline *timeline, bool is_head, struct strbuf *out)
{
	dict_encode(&timeline->dict, is_head ? &timeline->in_heads : &timeline->written, is_head,
		    out);
}

void timeline_settle_head(struct timeline *timeline)
{
	timeline->in_heads = dict_mark(&timeline->dict);
	for (size_t i = 0; i < timeline->nr_tracks; i++)
		timeline->tracks[i].nr_in_heads = timeline->tracks[i].rows.nr;
}

void timeline_forget_heads(struct timeline *timeline)
{
	timeline->in_heads = timeline->written;
	for (size_t i = 0; i < timeline->nr_tracks; i++)
		timeline->tracks[i].nr_in_heads = 0;
}

void timeline_settle(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_tracks; i++)
		timeline->tracks[i].rows.nr = timeline->tracks[i].nr_in_heads = 0;
	timeline->nr_rows = 0;
	timeline->written = timeline->in_heads = dict_mark(&timeline->dict);
}

int timeline_restart(struct timeline *timeline)
{
	struct dict fresh;
	int r = dict_init(&fresh);

	if (r < 0) {
		dict_done(&fresh);
		return r;
	}
	dict_done(&timeline->dict);
	timeline->dict = fresh;
	timeline->written = timeline->in_heads = dict_mark(&timeline->dict);
	return 0;
}

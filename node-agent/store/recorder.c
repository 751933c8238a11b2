/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recorder.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/budget.h"
#include "store/event_log.h"
#include "store/minute.h"
#include "store/recorder_dir.h"
#include "store/retention.h"
#include "store/store_dir.h"
#include "store/store_file.h"
#include "store/stored_value.h"
#include "store/trigger_pins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_S 10
#define BLOCK_S 60
#define FILE_S 3600
#define CHECK_S 60 /* between two checks of the directory */
#define FULL_CHECK_S 10 /* the same while its limits forbid writing */
#define MAX_DICT_BYTES ((size_t)192 << 20)
#define NAME_TRIES 100

struct recorder {
	struct recorder_opts opts; /* its strings are in the following */
	struct recorder_dir dir;
	char host[256];
	struct store_file *file; /* owned; NULL: none yet */
	char file_name[STORE_NAME_BYTES]; /* "": none yet */
	uint64_t file_hour;
	struct minute minute;
	uint64_t start_s; /* of the minute; valid unless it is empty */
	struct seconds seconds;
	struct event_log events;
	struct triggers triggers, vital_triggers;
	struct trigger_pins trigger_pins;
	uint64_t next_head_s, next_block_s, next_check_s;
	uint64_t whole_s; /* the end of the last second with all its samples; 0: not yet */
	struct budget budget;
	struct store_gap gap; /* to be written; end 0: none */
	bool is_failing; /* and the log says so */
	bool is_full; /* the directory's limits forbid writing */
	struct retention retention;
	struct recorder_stats stats;
};

static void note_loss(struct recorder *recorder, uint64_t second, uint64_t nr_samples)
{
	if (nr_samples == 0)
		return;
	if (recorder->gap.end_s == 0)
		recorder->gap.first_s = second;
	recorder->gap.end_s = second + 1;
	recorder->gap.nr_samples += nr_samples;
	recorder->stats.nr_samples_dropped += nr_samples;
	seconds_add_loss(&recorder->seconds, second, nr_samples);
}

/* Logs once when writing begins to fail, and once when it works again. */
static void note_result(struct recorder *recorder, int error)
{
	if (error < 0)
		recorder->stats.nr_write_failures++;
	if (error < 0 && !recorder->is_failing)
		log_warn("cannot write the record in %s: %s; samples wait in memory, and will be "
			 "dropped when there are too many",
			 recorder->dir.path, strerror(-error));
	else if (error == 0 && recorder->is_failing)
		log_info("the record in %s is written again", recorder->dir.path);
	recorder->is_failing = error < 0;
}

/* Files. */

static int create_file(struct recorder *recorder)
{
	char path[RECORDER_PATH_BYTES];
	int r = -EEXIST;

	for (uint64_t i = 0; r == -EEXIST && i < NAME_TRIES; i++) {
		store_dir_name(recorder->start_s + i, recorder->file_name);
		snprintf(path, sizeof(path), "%s/%s", recorder->dir.path, recorder->file_name);
		r = store_file_create(path, recorder->host, &recorder->file);
	}
	if (r < 0)
		recorder->file_name[0] = '\0';
	recorder->file_hour = recorder->start_s / FILE_S;
	return r;
}

/* Completes the file; the next one has dictionaries of its own. Without memory for them, this one
 * goes on. */
static void end_file(struct recorder *recorder)
{
	seconds_restart(&recorder->seconds, &recorder->minute.timeline.dict);
	if (minute_restart(&recorder->minute) < 0)
		return;
	if (store_file_close(recorder->file) < 0)
		log_warn("%s/%s keeps its log: it could not be merged", recorder->dir.path,
			 recorder->file_name);
	recorder->file = NULL;
	recorder->file_name[0] = '\0';
}

/* Begins a transaction, in a new file if there is none. */
static int begin(struct recorder *recorder)
{
	int r = recorder->is_full ? -ENOSPC : 0;

	if (r == 0 && !recorder->file)
		r = create_file(recorder);
	return r < 0 ? r : store_file_begin(recorder->file);
}

static int end(struct recorder *recorder, int r)
{
	if (r == 0)
		r = store_file_commit(recorder->file);
	if (r < 0 && recorder->file)
		store_file_rollback(recorder->file);
	note_result(recorder, r);
	return r;
}

static void write_head(struct recorder *recorder)
{
	uint64_t nr_bytes = 0;
	int r = begin(recorder);

	if (r == 0)
		r = minute_write_head(&recorder->minute, recorder->file, &nr_bytes);
	if (r == 0)
		r = event_log_write(&recorder->events, recorder->file);
	if (end(recorder, r) < 0)
		return;
	event_log_settle(&recorder->events);
	minute_settle_head(&recorder->minute);
	recorder->stats.nr_bytes_written += nr_bytes;
}

static void drop_samples(struct recorder *recorder)
{
	note_loss(recorder, recorder->minute.first_s, minute_nr_samples(&recorder->minute));
	minute_drop(&recorder->minute);
}

static void settle_block(struct recorder *recorder, uint64_t nr_bytes)
{
	recorder->stats.nr_samples_written += minute_nr_samples(&recorder->minute);
	recorder->stats.nr_bytes_written += nr_bytes;
	recorder->gap = (struct store_gap){ 0 };
	budget_spend(&recorder->budget, recorder->start_s, nr_bytes);
	minute_settle(&recorder->minute);
}

/* Ends the block, unless the disk refuses it. Without memory to fold it, its samples are lost. */
static void write_block(struct recorder *recorder)
{
	uint64_t min_count, folded = 0, nr_bytes = 0;

	if (minute_is_empty(&recorder->minute))
		return;
	min_count = budget_next_min_count(&recorder->budget, recorder->start_s);
	if (minute_fold(&recorder->minute, min_count, &folded) < 0)
		drop_samples(recorder);
	int r = begin(recorder);
	if (r == 0)
		r = minute_write(&recorder->minute, recorder->file, min_count, &nr_bytes);
	if (r == 0)
		r = event_log_write(&recorder->events, recorder->file);
	if (r == 0 && recorder->gap.end_s > 0)
		r = store_file_add_gap(recorder->file, &recorder->gap);
	if (end(recorder, r) < 0)
		return;
	event_log_settle(&recorder->events);
	recorder->stats.nr_samples_folded += folded;
	recorder->stats.min_count = min_count;
	settle_block(recorder, nr_bytes);
}

/* Ends the block and, with a new hour or a large dictionary, the file. What the disk refuses is
 * tried again later. */
static void turn(struct recorder *recorder, uint64_t second)
{
	if (second < recorder->next_block_s && second >= recorder->start_s)
		return;
	write_block(recorder);
	recorder->next_block_s = minute_is_empty(&recorder->minute) ? 0 : second + HEAD_S;
	if (minute_is_empty(&recorder->minute) && recorder->file &&
	    (second / FILE_S != recorder->file_hour ||
	     minute_dict_bytes(&recorder->minute) > MAX_DICT_BYTES))
		end_file(recorder);
}

/* The vitals of a second come before its samples, so a minute without samples may begin earlier. */
static bool is_of_another_minute(const struct recorder *recorder, uint64_t second)
{
	if (minute_is_empty(&recorder->minute))
		return false;
	return second / BLOCK_S > recorder->start_s / BLOCK_S ||
	       (recorder->minute.end_s > 0 && second / BLOCK_S < recorder->start_s / BLOCK_S);
}

static void begin_minute(struct recorder *recorder, uint64_t second)
{
	if (minute_is_empty(&recorder->minute))
		recorder->next_head_s = second + HEAD_S;
	else if (second >= recorder->start_s || recorder->minute.end_s > 0)
		return;
	recorder->start_s = second;
}

/* The timeline has CPU time only. Most threads wait all the time, so the waits of each program in
 * each second would be more numbers than all others together. */
static void add_to_timeline(struct recorder *recorder, const struct profile *profile,
			    uint64_t second)
{
	struct timeline *timeline = &recorder->minute.timeline;
	_cleanup_(second_sums_done) struct second_sums sums;

	if (second_sums_make(&sums, profile, &timeline->dict) < 0) {
		timeline->nr_dropped++;
		return;
	}
	timeline_add_series(timeline, second, &sums.series);
	seconds_add_sums(&recorder->seconds, second, &sums, &timeline->dict);
}

/* Returns whether no other window of the same second follows. */
static bool ends_second(const struct profile *profile)
{
	return (profile->time_unix_ns + profile->duration_ns) % NSEC_PER_SEC == 0;
}

void recorder_add(struct recorder *recorder, const struct profile *profile)
{
	uint64_t second = profile->time_unix_ns / NSEC_PER_SEC, lost;

	if (profile->nr_samples == 0)
		return;
	if (profile->type == PROFILE_CPU)
		seconds_complete(&recorder->seconds, second, &recorder->minute.timeline.dict);
	if (is_of_another_minute(recorder, second))
		turn(recorder, second);
	if (minute_dict_bytes(&recorder->minute) > 2 * MAX_DICT_BYTES) {
		note_loss(recorder, second, stored_nr_samples(profile));
		return;
	}
	begin_minute(recorder, second);
	if (profile->type == PROFILE_CPU)
		add_to_timeline(recorder, profile, second);
	lost = minute_add(&recorder->minute, profile, second, recorder->opts.with_cpu);
	note_loss(recorder, second, lost);
	if (profile->type == PROFILE_CPU)
		recorder->whole_s = ends_second(profile) ? second + 1 : 0;
}

void recorder_add_vitals(struct recorder *recorder, uint64_t second, const struct vitals *vitals)
{
	const struct store_second known = { .second = second, .vitals = *vitals };

	begin_minute(recorder, second);
	timeline_add_vitals(&recorder->minute.timeline, second, vitals);
	seconds_add_vitals(&recorder->seconds, second, vitals);
	triggers_add(&recorder->vital_triggers, &known, recorder->events.detector);
}

void recorder_add_throttling(struct recorder *recorder, uint64_t second, uint64_t cgroup_id,
			     uint64_t throttled_ns, uint64_t nr_throttled, uint32_t nr_seconds)
{
	struct timeline *timeline = &recorder->minute.timeline;
	struct second_throttling throttling = {
		.cgroup_id = cgroup_id,
		.throttled_ns = throttled_ns,
		.nr_throttled = nr_throttled,
		.nr_seconds = nr_seconds,
	};

	if (timeline_find_cgroup(timeline, cgroup_id, &throttling.labels) < 0) {
		timeline->nr_dropped++;
		return;
	}
	begin_minute(recorder, second);
	timeline_add_throttling(timeline, second, &throttling);
	seconds_add_throttling(&recorder->seconds, second, &throttling);
}

void recorder_add_gpus(struct recorder *recorder, const struct gpu_second *second)
{
	struct timeline *timeline = &recorder->minute.timeline;
	const struct gpu_reading *reading = second->reading;
	uint32_t labels;

	begin_minute(recorder, second->second);
	for (uint32_t i = 0; i < reading->nr_devices; i++)
		timeline_add_gpu(timeline, second->second, i, &reading->devices[i]);
	for (size_t i = 0; i < second->nr_uses; i++) {
		const struct gpu_use *use = &second->uses[i];

		if (timeline_find_cgroup(timeline, use->cgroup_id, &labels) < 0)
			timeline->nr_dropped++;
		else
			timeline_add_gpu_use(timeline, second->second, labels, use->utilization,
					     use->memory);
	}
}

static void check_dir(struct recorder *recorder, uint64_t now_s)
{
	const char *current = recorder->file ? recorder->file_name : NULL;

	recorder->is_full = retention_apply(&recorder->retention, current, now_s) == -ENOSPC;
	recorder->next_check_s = now_s + (recorder->is_full ? FULL_CHECK_S : CHECK_S);
}

/* Pins the ranges around the rules that fired. What they need is written before. */
static void pin_firings(struct recorder *recorder)
{
	uint64_t complete_s = recorder->seconds.next_s;

	if (!trigger_pins_are_due(&recorder->trigger_pins, complete_s))
		return;
	if (!minute_is_empty(&recorder->minute))
		write_head(recorder);
	trigger_pins_make(&recorder->trigger_pins, recorder->dir.path, complete_s);
}

void recorder_tick(struct recorder *recorder, uint64_t now_s)
{
	if (now_s >= recorder->next_check_s || now_s + CHECK_S < recorder->next_check_s)
		check_dir(recorder, now_s);
	if (now_s > SECONDS_LATE_S)
		seconds_complete(&recorder->seconds, now_s - SECONDS_LATE_S,
				 &recorder->minute.timeline.dict);
	if (seconds_has_vitals(&recorder->seconds, recorder->whole_s - 1))
		seconds_complete(&recorder->seconds, recorder->whole_s,
				 &recorder->minute.timeline.dict);
	pin_firings(recorder);
	if (minute_is_empty(&recorder->minute))
		return;
	/* A minute ends by its successor's samples, or a while after it without any. */
	if (now_s >= recorder->start_s + BLOCK_S + HEAD_S && now_s >= recorder->next_head_s)
		turn(recorder, now_s);
	else if (now_s >= recorder->next_head_s)
		write_head(recorder);
	else
		return;
	recorder->next_head_s = now_s + HEAD_S;
}

/* Start and end. */

static void pass_second(const struct store_second *second, void *data)
{
	struct recorder *recorder = data;

	event_log_add(&recorder->events, second);
	triggers_add(&recorder->triggers, second, recorder->events.detector);
	triggers_tell(&recorder->vital_triggers, second->second, recorder->events.detector);
	if (recorder->opts.on_second)
		recorder->opts.on_second(second, recorder->opts.on_second_data);
}

static void on_firing(const struct trigger_firing *firing, void *data)
{
	struct recorder *recorder = data;
	const struct triggers_opts *opts = &recorder->opts.triggers;

	trigger_pins_add(&recorder->trigger_pins, firing);
	if (opts->notify)
		opts->notify(firing, opts->notify_data);
}

static void start_triggers(struct recorder *recorder)
{
	struct triggers_opts opts = recorder->opts.triggers;

	opts.notify = on_firing;
	opts.notify_data = recorder;
	triggers_init(&recorder->triggers, &opts);
	opts.of_vitals = true;
	triggers_init(&recorder->vital_triggers, &opts);
}

static int start(struct recorder *recorder, struct strbuf *reterr_msg)
{
	int r = recorder_dir_open(&recorder->dir, recorder->opts.dir, reterr_msg);

	if (r < 0)
		return r;
	retention_init(&recorder->retention, recorder->dir.path, recorder->opts.max_bytes,
		       recorder->opts.max_age_s);
	r = recorder_dir_adopt(&recorder->dir, clock_real_ns() / NSEC_PER_SEC, &recorder->budget,
			       &recorder->stats.nr_files_damaged);
	if (r == 0)
		r = minute_init(&recorder->minute);
	if (r == 0)
		r = event_log_init(&recorder->events, recorder->dir.path);
	return r;
}

int recorder_new(const struct recorder_opts *opts, struct strbuf *reterr_msg,
		 struct recorder **ret_recorder)
{
	_cleanup_(recorder_closep) struct recorder *recorder = calloc(1, sizeof(*recorder));

	if (!recorder)
		return -ENOMEM;
	recorder->opts = *opts;
	recorder->budget.per_day = opts->per_day;
	recorder->stats.min_count = 1;
	recorder->seconds.visit = pass_second;
	recorder->seconds.data = recorder;
	snprintf(recorder->host, sizeof(recorder->host), "%s", opts->host);
	start_triggers(recorder);
	int r = start(recorder, reterr_msg);
	if (r < 0)
		return r;
	*ret_recorder = take_ptr(recorder);
	return 0;
}

void recorder_finish(struct recorder *recorder)
{
	seconds_restart(&recorder->seconds, &recorder->minute.timeline.dict);
	if (recorder->events.detector) {
		triggers_finish(&recorder->triggers, recorder->events.detector);
		triggers_finish(&recorder->vital_triggers, recorder->events.detector);
	}
	event_log_finish(&recorder->events);
	write_block(recorder);
	if (recorder->minute.end_s > 0)
		drop_samples(recorder);
	/* What follows an event is not known any more. */
	trigger_pins_make(&recorder->trigger_pins, recorder->dir.path, UINT64_MAX);
	(void)store_file_close(recorder->file);
	recorder->file = NULL;
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	recorder_finish(recorder);
	minute_done(&recorder->minute);
	seconds_done(&recorder->seconds);
	event_log_done(&recorder->events);
	triggers_done(&recorder->triggers);
	triggers_done(&recorder->vital_triggers);
	recorder_dir_close(&recorder->dir);
	free(recorder);
}

struct recorder_stats recorder_get_stats(const struct recorder *recorder)
{
	struct recorder_stats stats = recorder->stats;

	stats.nr_files_removed = recorder->retention.nr_removed;
	stats.disk_bytes = recorder->retention.bytes;
	stats.pin_bytes = recorder->retention.pin_bytes;
	stats.nr_pins_refused = recorder->retention.nr_pins_refused;
	stats.nr_samples_late = recorder->seconds.nr_late;
	stats.events = event_detector_get_stats(recorder->events.detector);
	stats.triggers = recorder->triggers.stats;
	stats.triggers.nr_suppressed += recorder->vital_triggers.stats.nr_suppressed;
	stats.triggers.nr_unwatched += recorder->vital_triggers.stats.nr_unwatched;
	stats.triggers.nr_pinned = recorder->trigger_pins.nr_made;
	stats.triggers.nr_not_pinned = recorder->trigger_pins.nr_failed;
	stats.nr_timeline_dropped = recorder->minute.timeline.nr_dropped;
	return stats;
}

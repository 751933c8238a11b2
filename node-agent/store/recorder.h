/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles and a timeline into the files of a directory, one file an hour. What is sampled
 * is in the file after 10 s at most, as a head; at the end of each minute, a block takes the place
 * of the heads.
 *
 * While the disk refuses data, the samples wait in memory, up to a limit, and are written as soon
 * as it accepts them again. What there is no room for is dropped and counted, and the record has a
 * gap that says so. */
#ifndef STORE_RECORDER_H
#define STORE_RECORDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "gpu/gpu_thread.h"
#include "profile/profile.h"
#include "store/event_detector.h"
#include "store/seconds.h"
#include "store/triggers.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder;

struct recorder_opts {
	const char *dir; /* absolute; made if it is missing */
	const char *host; /* the name of this machine, kept in the files */
	uint64_t max_bytes; /* of all files: the oldest ones are removed */
	uint64_t per_day; /* bytes; 0: no limit, and nothing is folded */
	uint64_t max_age_s;
	bool with_cpu; /* keep the CPU of each sample */
	store_second_visit on_second; /* is passed each complete second; NULL: nobody is */
	void *on_second_data;
	struct triggers_opts triggers; /* rules that pin the time around; none: zero */
};

/* Samples are counted as by stored_nr_samples(). */
struct recorder_stats {
	uint64_t nr_samples_written; /* in blocks, not in heads only */
	uint64_t nr_samples_dropped;
	uint64_t nr_samples_folded; /* their stacks are not whole */
	uint64_t nr_samples_late; /* they came too late for their second's events */
	struct event_detector_stats events;
	struct triggers_stats triggers;
	uint64_t nr_timeline_dropped; /* numbers of the timeline: there was no room for them */
	uint64_t nr_bytes_written;
	uint64_t nr_write_failures;
	uint64_t nr_files_removed;
	uint64_t nr_files_damaged; /* left behind by another program or a failing disk */
	uint64_t disk_bytes; /* of all files, as of the last check */
	uint64_t pin_bytes; /* of those with pinned ranges, which are among them */
	uint64_t nr_pins_refused; /* events or files whose ranges had no room as pins */
	uint64_t min_count; /* stacks with fewer samples in a minute are folded; 1: none */
};

/* Opens a directory for writing and completes files that were left behind. On failure `reterr_msg`
 * says what is wrong. Errors: -EBUSY another process writes there, those of own_dir_open(),
 * -ENOMEM. */
int recorder_new(const struct recorder_opts *opts, struct strbuf *reterr_msg,
		 struct recorder **ret_recorder) must_check;

/* Writes everything and completes the file. What cannot be written is dropped and counted. Nothing
 * may be added afterwards. */
void recorder_finish(struct recorder *recorder);

/* Finishes and frees. NULL is fine. */
void recorder_close(struct recorder *recorder);
DEFINE_FREEP(struct recorder, recorder_close)

/* Adds a sealed profile. Its samples belong to the second in which it began. */
void recorder_add(struct recorder *recorder, const struct profile *profile);

/* Adds what the kernel counted in a second, Unix time; to be called when it is over. */
void recorder_add_vitals(struct recorder *recorder, uint64_t second, const struct vitals *vitals);

/* Adds that a cgroup's threads were held up because it had used up its CPU time. In the
 * last `nr_seconds` seconds, at least 1, that took `throttled_ns` on all CPUs together, in
 * `nr_throttled` periods. */
void recorder_add_throttling(struct recorder *recorder, uint64_t second, uint64_t cgroup_id,
			     uint64_t throttled_ns, uint64_t nr_throttled, uint32_t nr_seconds);

/* Adds what GPUs did in a second, and whose processes used them. */
void recorder_add_gpus(struct recorder *recorder, const struct gpu_second *second);

/* Writes what is due at that time (Unix, in seconds). To be called every second. */
void recorder_tick(struct recorder *recorder, uint64_t now_s);

struct recorder_stats recorder_get_stats(const struct recorder *recorder);

#endif

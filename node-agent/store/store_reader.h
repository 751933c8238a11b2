/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records: those of this machine while they are written, of a dead agent, or of other
 * machines. Nothing is changed.
 *
 *	store_reader_open(paths) ─▶ reader.spans		the files and what is in them
 *	store_reader_refresh(paths)			the same again, later
 *	                         ─▶ store_reader_merge()	a range's samples, as a profile
 *	                         ─▶ store_timeline_read()	numbers by second (store_timeline.h)
 *
 * Each call reads a file as it is at that time. The first call that reads samples of a file takes
 * longest; what the samples refer to is kept for later calls. Only one thread may use a reader at
 * a time; a merge of several files starts another one for itself, and ends it. A file that is
 * damaged, or of another version, is skipped with a warning. */
#ifndef STORE_STORE_READER_H
#define STORE_STORE_READER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"
#include "store/selector.h"
#include "store/time_range.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells whether a file, or its log, was changed. */
struct store_stamp {
	uint64_t device, inode, bytes, changed_ns, log_bytes, log_changed_ns;
};

/* A file of a record, and what is in it. */
struct store_span {
	char *path; /* owned */
	char *host; /* owned; the machine that wrote it */
	uint64_t bytes; /* of disk */
	/* Of its samples: Unix time; `end_s` is behind the last second; both 0: there are none. */
	uint64_t first_s, end_s;
	uint64_t timeline_first_s, timeline_end_s; /* the same, of its timeline */
	uint64_t nr_samples[PROFILE_NR_TYPES]; /* sums of values */
	uint64_t folded[PROFILE_NR_TYPES]; /* values of the samples whose stacks are not whole */
	uint64_t min_count; /* stacks with fewer samples in a minute were folded; 1: none */
	uint64_t nr_lost; /* samples that could not be written */
	bool lacks_log; /* as of store_file_lacks_log() */
	struct store_stamp stamp; /* as of when it was looked into */
	bool is_pinned; /* it only has pinned ranges; the original is gone (store/pin_dir.h) */
};

struct dict_cache;

struct store_reader {
	struct store_span *spans; /* owned; ordered by host, then by time */
	size_t nr_spans, cap_spans;
	struct dict_cache *dicts; /* owned */
};

/* Opens directories and single files. Warnings are sentences, a line each. Errors: -ENOENT there is
 * no file of a record, and `warnings` says where it was looked for; -ENOMEM. */
int store_reader_open(const char *const *paths, size_t nr_paths, struct strbuf *warnings,
		      struct store_reader *ret_reader) must_check;
void store_reader_done(struct store_reader *reader);

/* Looks again at what an open reader has: files that were changed or added are looked into, those
 * that are gone are left out. Pointers to spans become invalid. There may be no file any more.
 * Errors: -ENOMEM; the reader is unchanged. */
int store_reader_refresh(struct store_reader *reader, const char *const *paths, size_t nr_paths,
			 struct strbuf *warnings) must_check;

/* Returns the newest second of all files that has samples; without any, that of their timelines; or
 * 0. */
uint64_t store_reader_newest(const struct store_reader *reader);

struct store_query {
	struct time_range range;
	const struct selector *selector; /* borrowed */
	enum profile_type type;
	/* Whether samples keep all their labels; else only program and reason. A merge without
	 * them is faster and smaller. */
	bool with_labels;
	size_t max_bytes; /* of the profile */
};

struct store_answer {
	struct profile *profile; /* owned; sealed */
	uint64_t folded; /* value of samples in blocks of the range whose stacks are not whole */
	uint64_t nr_lost; /* samples of the range that the agent could not write */
	uint64_t nr_left_out; /* value of samples over `max_bytes` */
};

static inline void store_answer_done(struct store_answer *answer)
{
	profile_unref(answer->profile);
}

/* Merges all samples of a range. Samples of CPU time that were taken at several frequencies are
 * counted in units of which all their periods are multiples: the period of the profile is such a
 * unit, and its sums are exact. Of types that are snapshots, it has the last one in the range, of
 * each host, that has samples of the selection. Errors: -ENOENT there are none, -ENOMEM. */
int store_reader_merge(const struct store_reader *reader, const struct store_query *query,
		       struct strbuf *warnings, struct store_answer *ret_answer) must_check;

#endif

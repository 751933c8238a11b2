/* SPDX-License-Identifier: Apache-2.0 */
/* Reads pprof files of Flamelet and other programs: https://github.com/google/pprof/tree/main/proto
 *
 * Everything that pprof.h writes is restored: stacks, names, files with their build ids, and
 * resources. Other data is read as far as a profile can represent it:
 *
 *	sample types		a profile each, of those in profile_type.h; pprof_plan.h tells how
 *	mappings		become whole files (profile.h), addresses offsets in them
 *	locations without lines	get file and address as their name, because backends drop
 *				locations without a name
 *	kinds of frames		kernel by the mapping; languages by the source file's extension
 *	text labels		attributes of the resource under their own key; labels of a
 *				request are left out
 *	numeric labels		pid, tid, cpu, cgroup_id; others are left out
 *	stacks			up to 2048 frames; deeper ones are cut at the root and say so */
#ifndef PROFILE_PPROF_READER_H
#define PROFILE_PPROF_READER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

#include <stddef.h>

/* A profile may take this many times the bytes that a file may unpack to. */
#define PPROF_ROOM_FACTOR 4

struct pprof_profiles {
	/* Owned references; NULL: the file has none of that type */
	struct profile *of[PROFILE_NR_TYPES];
	size_t nr_types_unknown; /* omitted sample types */
	size_t nr_values_negative; /* omitted, too; they occur in differences of two profiles */
};

void pprof_profiles_done(struct pprof_profiles *profiles);

/* Reads a message, plain or gzip'ed. On failure, `message` gets the reason in one line. Errors:
 * -EBADMSG, -EFBIG when it unpacks to more than `max_bytes`, or a profile of it takes more than
 * PPROF_ROOM_FACTOR times as much; -ENOENT when it has no sample type that is known; -ENOMEM. */
int pprof_read(const void *bytes, size_t len, size_t max_bytes, struct pprof_profiles *ret_profiles,
	       struct strbuf *message) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the progress of `record`: on a terminal one line that is redrawn, elsewhere one line at the
 * start. All of it goes to stderr; standard output belongs to the result. */
#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum progress_mode {
	PROGRESS_QUIET,
	PROGRESS_ONE_LINE, /* not a terminal */
	PROGRESS_LIVE,
};

struct progress {
	int fd;
	enum progress_mode mode;
	bool has_color;
	bool is_utf8; /* may draw with block characters */
	unsigned int columns; /* of the terminal; the line never wraps */
	const char *target; /* "whole machine"; borrowed */
	uint64_t duration_ns; /* 0: until Ctrl-C */
	uint32_t nr_cpus;
};

struct progress_state {
	uint64_t elapsed_ns;
	uint64_t nr_samples;
	uint64_t nr_lost;
	bool is_saving; /* sampling has ended */
};

/* Fills in fd, mode, colors and columns for stderr, from the terminal and the environment (TERM,
 * NO_COLOR, LC_ALL, LC_CTYPE, LANG). */
void progress_init(struct progress *progress, bool quiet);

/* Says that profiling begins, before the first sample. */
void progress_start(const struct progress *progress);

/* Redraws the live line; does nothing in other modes. Call it a few times per second. */
void progress_update(const struct progress *progress, const struct progress_state *state);

/* Erases the live line. */
void progress_done(const struct progress *progress);

/* Appends the live line alone. */
void progress_line(const struct progress *progress, const struct progress_state *state,
		   struct strbuf *out);

#endif

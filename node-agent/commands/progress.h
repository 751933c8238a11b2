/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the progress of `record` on stderr, because standard output is for profiles: on a terminal
 * one line that is redrawn, else one line at the start. */
#ifndef COMMANDS_PROGRESS_H
#define COMMANDS_PROGRESS_H

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
	const char *target; /* "the whole machine"; borrowed */
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

/* Writes the one line of PROGRESS_ONE_LINE; does nothing in other modes. */
void progress_start(const struct progress *progress);

/* Redraws the live line; does nothing in other modes. Call it a few times per second. */
void progress_update(const struct progress *progress, const struct progress_state *state);

/* Erases the live line. */
void progress_done(const struct progress *progress);

#endif

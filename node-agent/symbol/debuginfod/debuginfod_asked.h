/* SPDX-License-Identifier: Apache-2.0 */
/* The build ids that were requested, and their state:
 *
 *	add() ──▶ waiting ──send()──▶ sent ──answer()──▶ answered: not found, not requested again for a while
 *	             ▲                 │ └───answer()──▶ forgotten: found
 *	             └────unsend()─────┘
 *
 * The number of build ids is bounded: if there are too many, the oldest answer is forgotten. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_ASKED_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_ASKED_H

#include "base/err.h"
#include "base/htable.h"

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_ASKED_MAX 16384

enum debuginfod_asked_state {
	DEBUGINFOD_FORGOTTEN, /* the row is free */
	DEBUGINFOD_WAITING,
	DEBUGINFOD_SENT,
	DEBUGINFOD_ANSWERED,
	DEBUGINFOD_NR_STATES,
};

struct debuginfod_asked_row {
	char *build_id; /* owned; NULL in a free row */
	uint64_t cookie;
	uint64_t until_ns; /* DEBUGINFOD_ANSWERED: not requested again before */
	enum debuginfod_asked_state state;
	uint32_t hash;
	uint32_t previous, next; /* rows in the same state */
};

/* Rows of one state, in the order in which they entered it. */
struct debuginfod_asked_list {
	uint32_t first, last;
	size_t nr;
};

struct debuginfod_asked {
	struct debuginfod_asked_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	size_t max_waiting;
	struct htable by_id;
	struct debuginfod_asked_list lists[DEBUGINFOD_NR_STATES];
};

void debuginfod_asked_init(struct debuginfod_asked *asked, size_t max_waiting);
void debuginfod_asked_done(struct debuginfod_asked *asked);

/* Adds a build id, which then waits. Errors: -EALREADY it waits, was sent, or was answered a short
 * time ago; -ENOSPC over max_waiting; -ENOMEM. */
int debuginfod_asked_add(struct debuginfod_asked *asked, const char *build_id, uint64_t cookie,
			 uint64_t now_ns) must_check;

/* Marks the build id that has waited longest as sent, and returns it. Borrowed until it is
 * answered. NULL if none waits. */
const char *debuginfod_asked_send(struct debuginfod_asked *asked);

/* Lets all build ids that were sent wait again, before the others. */
void debuginfod_asked_unsend(struct debuginfod_asked *asked);

/* Marks the build id that was sent first as answered, and returns its cookie. There must be one. It
 * is forgotten if `until_ns` is 0, otherwise remembered until then. */
uint64_t debuginfod_asked_answer(struct debuginfod_asked *asked, uint64_t until_ns);

static inline size_t debuginfod_asked_count(const struct debuginfod_asked *asked,
					    enum debuginfod_asked_state state)
{
	return asked->lists[state].nr;
}

#endif

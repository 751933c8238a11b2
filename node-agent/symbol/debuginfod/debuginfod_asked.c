/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod_asked.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

#define NONE UINT32_MAX

void debuginfod_asked_init(struct debuginfod_asked *asked, size_t max_waiting)
{
	*asked = (struct debuginfod_asked){ .max_waiting = max_waiting };
	for (size_t i = 0; i < array_len(asked->lists); i++)
		asked->lists[i] = (struct debuginfod_asked_list){ NONE, NONE, 0 };
}

void debuginfod_asked_done(struct debuginfod_asked *asked)
{
	for (size_t i = 0; i < asked->nr_rows; i++)
		free(asked->rows[i].build_id);
	free(asked->rows);
	htable_done(&asked->by_id);
}

static void unlink_row(struct debuginfod_asked *asked, uint32_t index)
{
	const struct debuginfod_asked_row *row = &asked->rows[index];
	struct debuginfod_asked_list *list = &asked->lists[row->state];

	*(row->previous == NONE ? &list->first : &asked->rows[row->previous].next) = row->next;
	*(row->next == NONE ? &list->last : &asked->rows[row->next].previous) = row->previous;
	list->nr--;
}

static void append_row(struct debuginfod_asked *asked, uint32_t index,
		       enum debuginfod_asked_state state)
{
	struct debuginfod_asked_row *row = &asked->rows[index];
	struct debuginfod_asked_list *list = &asked->lists[state];

	row->state = state;
	row->previous = list->last;
	row->next = NONE;
	*(list->last == NONE ? &list->first : &asked->rows[list->last].next) = index;
	list->last = index;
	list->nr++;
}

static void move_row(struct debuginfod_asked *asked, uint32_t index,
		     enum debuginfod_asked_state state)
{
	unlink_row(asked, index);
	append_row(asked, index, state);
}

static void forget(struct debuginfod_asked *asked, uint32_t index)
{
	struct debuginfod_asked_row *row = &asked->rows[index];

	htable_remove(&asked->by_id, row->hash, index);
	free(take_ptr(row->build_id));
	move_row(asked, index, DEBUGINFOD_FORGOTTEN);
}

static uint32_t find(const struct debuginfod_asked *asked, const char *build_id, uint32_t hash)
{
	struct htable_iter it = htable_lookup(&asked->by_id, hash);

	for (uint32_t index; htable_next(&it, &index);) {
		if (strcmp(asked->rows[index].build_id, build_id) == 0)
			return index;
	}
	return NONE;
}

/* Makes sure that there is a free row. */
static int make_room(struct debuginfod_asked *asked)
{
	if (asked->lists[DEBUGINFOD_FORGOTTEN].nr > 0)
		return 0;

	int r = array_grow(asked->rows, asked->cap_rows, asked->nr_rows + 1, DEBUGINFOD_ASKED_MAX);
	if (r == -ENOSPC && asked->lists[DEBUGINFOD_ANSWERED].nr > 0) {
		forget(asked, asked->lists[DEBUGINFOD_ANSWERED].first);
		return 0;
	}
	if (r < 0)
		return r;
	asked->rows[asked->nr_rows] = (struct debuginfod_asked_row){ 0 };
	append_row(asked, (uint32_t)asked->nr_rows++, DEBUGINFOD_FORGOTTEN);
	return 0;
}

static int add_row(struct debuginfod_asked *asked, const char *build_id, uint32_t hash,
		   uint64_t cookie)
{
	int r = make_room(asked);

	if (r < 0)
		return r;
	_cleanup_free_ char *copy = strdup(build_id);
	if (!copy)
		return -ENOMEM;

	uint32_t index = asked->lists[DEBUGINFOD_FORGOTTEN].first;
	struct debuginfod_asked_row *row = &asked->rows[index];
	r = htable_add(&asked->by_id, hash, index);
	if (r < 0)
		return r;
	row->build_id = take_ptr(copy);
	row->hash = hash;
	row->cookie = cookie;
	move_row(asked, index, DEBUGINFOD_WAITING);
	return 0;
}

int debuginfod_asked_add(struct debuginfod_asked *asked, const char *build_id, uint64_t cookie,
			 uint64_t now_ns)
{
	uint32_t hash = hash_bytes(build_id, strlen(build_id));
	uint32_t index = find(asked, build_id, hash);

	if (index != NONE && (asked->rows[index].state != DEBUGINFOD_ANSWERED ||
			      now_ns < asked->rows[index].until_ns))
		return -EALREADY;
	if (asked->lists[DEBUGINFOD_WAITING].nr >= asked->max_waiting)
		return -ENOSPC;
	if (index == NONE)
		return add_row(asked, build_id, hash, cookie);
	asked->rows[index].cookie = cookie;
	move_row(asked, index, DEBUGINFOD_WAITING);
	return 0;
}

const char *debuginfod_asked_send(struct debuginfod_asked *asked)
{
	uint32_t index = asked->lists[DEBUGINFOD_WAITING].first;

	if (index == NONE)
		return NULL;
	move_row(asked, index, DEBUGINFOD_SENT);
	return asked->rows[index].build_id;
}

/* Both lists are in the order of the requests. The rows that were sent come first, so those that
 * already waited are moved behind them. */
void debuginfod_asked_unsend(struct debuginfod_asked *asked)
{
	size_t nr_waiting = asked->lists[DEBUGINFOD_WAITING].nr;

	while (asked->lists[DEBUGINFOD_SENT].nr > 0)
		move_row(asked, asked->lists[DEBUGINFOD_SENT].first, DEBUGINFOD_WAITING);
	for (; nr_waiting > 0; nr_waiting--)
		move_row(asked, asked->lists[DEBUGINFOD_WAITING].first, DEBUGINFOD_WAITING);
}

uint64_t debuginfod_asked_answer(struct debuginfod_asked *asked, uint64_t until_ns)
{
	uint32_t index = asked->lists[DEBUGINFOD_SENT].first;
	uint64_t cookie = asked->rows[index].cookie;

	if (until_ns == 0) {
		forget(asked, index);
	} else {
		asked->rows[index].until_ns = until_ns;
		move_row(asked, index, DEBUGINFOD_ANSWERED);
	}
	return cookie;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/held_windows.h"

static size_t bytes_of(const struct window *window)
{
	return sizeof(*window) + builder_bytes(window->builder);
}

static void append(struct held_windows *held, struct window *window)
{
	if (held->last)
		held->last->next = window;
	else
		held->first = window;
	held->last = window;
	held->nr++;
	held->nr_bytes += bytes_of(window);
}

int held_windows_add(struct held_windows *held, struct window **window)
{
	if (held->nr_bytes + bytes_of(*window) > HELD_WINDOWS_MAX_BYTES)
		return -ENOSPC;
	append(held, take_ptr(*window));
	return 0;
}

struct window *held_windows_find(const struct held_windows *held)
{
	return held->first;
}

struct window *held_windows_take(struct held_windows *held)
{
	struct window *first = held->first;

	if (!first)
		return NULL;
	held->nr--;
	held->nr_bytes -= bytes_of(first);
	held->first = first->next;
	if (!held->first)
		held->last = NULL;
	first->next = NULL;
	return first;
}

void held_windows_rotate(struct held_windows *held)
{
	struct window *first = held_windows_take(held);

	if (first)
		append(held, first);
}

void held_windows_done(struct held_windows *held)
{
	struct window *window;

	while ((window = held_windows_take(held)))
		window_free(window);
}

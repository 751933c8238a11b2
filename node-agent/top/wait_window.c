/* SPDX-License-Identifier: Apache-2.0 */
#include "top/wait_window.h"

#include "base/clock.h"
#include "profile/builder.h"
#include "profile/merge.h"

#include <string.h>

#define WINDOW_NS (10 * NSEC_PER_SEC)
#define WAITS_MAX_BYTES ((size_t)256 << 20)

static uint64_t duration_of(const struct wait_window *window)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < window->nr; i++)
		sum_ns += window->parts[i].duration_ns;
	return sum_ns;
}

static void drop_oldest(struct wait_window *window)
{
	profile_unref(window->parts[0].waits);
	window->nr--;
	memmove(&window->parts[0], &window->parts[1], window->nr * sizeof(*window->parts));
}

void wait_window_done(struct wait_window *window)
{
	while (window->nr > 0)
		drop_oldest(window);
}

void wait_window_add(struct wait_window *window, struct profile *waits, uint64_t duration_ns)
{
	while (window->nr > 0 &&
	       (window->nr == WAIT_WINDOW_PARTS || duration_of(window) + duration_ns > WINDOW_NS))
		drop_oldest(window);
	window->parts[window->nr++] = (struct wait_part){
		.waits = waits ? profile_ref(waits) : NULL,
		.duration_ns = duration_ns,
	};
}

int wait_window_merge(const struct wait_window *window, struct profile **ret_waits)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(WAITS_MAX_BYTES, &builder);
	if (r < 0)
		return r;
	builder_set_type(builder, PROFILE_OFF_CPU);
	for (size_t i = 0; r == 0 && i < window->nr; i++)
		if (window->parts[i].waits)
			r = merge_profile(builder, window->parts[i].waits, NULL);
	if (r < 0)
		return r;
	const struct profile *merged = builder_peek(builder);
	builder_set_time(builder, merged->time_unix_ns, duration_of(window), merged->period);
	*ret_waits = builder_seal(take_ptr(builder));
	return 0;
}

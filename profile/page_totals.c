/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/page_totals.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdbool.h>

struct totals {
	uint64_t all;
	uint64_t kernel; /* samples that ran in the kernel */
	uint64_t truncated; /* samples whose stacks are not whole */
};

/* Returns the kind of the frame that ran, or of the one at the other end of the stack; FRAME_LABEL
 * if there is no code. */
static enum frame_kind kind_at_end(const struct profile *p, const struct profile_stack *stack,
				   bool is_leaf)
{
	bool is_first = is_leaf != p->is_bottom_up;

	for (size_t i = 0; i < stack->nr; i++) {
		size_t at = is_first ? i : stack->nr - 1 - i;
		enum frame_kind kind = p->locations[p->stack_locations[stack->first + at]].kind;

		if (kind != FRAME_LABEL)
			return kind;
	}
	return FRAME_LABEL;
}

static struct totals count(const struct profile *p)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct profile_stack *stack = &p->stacks[p->samples[i].stack];

		totals.all += p->samples[i].count;
		if (kind_at_end(p, stack, true) == FRAME_KERNEL)
			totals.kernel += p->samples[i].count;
		if (kind_at_end(p, stack, false) == FRAME_STOP)
			totals.truncated += p->samples[i].count;
	}
	return totals;
}

static bool is_cpu_time(const struct profile *profile)
{
	return profile->type == PROFILE_CPU && profile->period > 0;
}

void page_totals_append_value(const struct profile *profile, uint64_t count, struct strbuf *out)
{
	double seconds = (double)count * (double)profile->period / (double)NSEC_PER_SEC;

	if (!is_cpu_time(profile)) {
		text_append_count(out, count);
		return;
	}
	if (seconds >= 100)
		text_append_count(out, (uint64_t)(seconds + 0.5));
	else
		strbuf_appendf(out, "%.2f", seconds);
	strbuf_append_str(out, " s");
}

static void begin_card(struct strbuf *out)
{
	strbuf_append_str(out, "<div class=\"card\"><b>");
}

static void end_card(struct strbuf *out, const char *what)
{
	strbuf_appendf(out, "</b>%s</div>\n", what);
}

static void put_share(struct strbuf *out, uint64_t part, uint64_t all, const char *what)
{
	begin_card(out);
	strbuf_appendf(out, "%.1f %%", all ? 100.0 * (double)part / (double)all : 0);
	end_card(out, what);
}

void page_totals_append(const struct profile *profile, struct strbuf *out)
{
	const struct totals totals = count(profile);
	const char *values = profile_type_names(profile->type)->values;
	double cpu_ns = (double)totals.all * (double)profile->period;

	strbuf_append_str(out, "<section class=\"cards\">\n");
	if (is_cpu_time(profile)) {
		begin_card(out);
		page_totals_append_value(profile, totals.all, out);
		end_card(out, "CPU time");
	}
	if (is_cpu_time(profile) && profile->duration_ns > 0) {
		begin_card(out);
		strbuf_appendf(out, "%.2f", cpu_ns / (double)profile->duration_ns);
		end_card(out, "CPUs busy on average");
	}
	begin_card(out);
	text_append_count(out, totals.all);
	end_card(out, values);
	put_share(out, totals.kernel, totals.all, "in the kernel");
	if (totals.truncated > 0)
		put_share(out, totals.truncated, totals.all, "with truncated stacks");
	strbuf_append_str(out, "</section>\n");
}

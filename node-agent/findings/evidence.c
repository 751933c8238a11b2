/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/evidence.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/waker_frame.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 4096
#define FUNCTION_COLUMNS 60

/* Sums of the samples that belong to the finding. */
struct evidence {
	uint64_t *callers; /* by string; owned */
	uint64_t *wakers; /* by the string of their frame; owned */
	uint64_t *stacks; /* by stack; owned */
	uint64_t *programs, *starters; /* by unit; owned */
};

struct top {
	size_t index;
	uint64_t count;
};

static void evidence_done(struct evidence *evidence)
{
	free(evidence->callers);
	free(evidence->wakers);
	free(evidence->stacks);
	free(evidence->programs);
	free(evidence->starters);
}

static uint64_t *new_counts(size_t nr)
{
	return calloc(nr + 1, sizeof(uint64_t));
}

static int evidence_init(struct evidence *evidence, const struct evidence_input *input)
{
	evidence->callers = new_counts(input->profile->strings.nr_strings);
	evidence->wakers = new_counts(input->profile->strings.nr_strings);
	evidence->stacks = new_counts(input->profile->nr_stacks);
	evidence->programs = new_counts(input->programs->nr);
	evidence->starters = new_counts(input->programs->nr);
	return evidence->callers && evidence->wakers && evidence->stacks && evidence->programs &&
			       evidence->starters
		       ? 0
		       : -ENOMEM;
}

/* Returns the string of the frame that names who ended the wait; 0: the stack has none. */
static uint32_t waker_of(const struct profile *profile, uint32_t number)
{
	const struct profile_stack *stack = &profile->stacks[number];
	size_t depth = waker_frame_depth(profile, number);
	const struct profile_location *location;

	if (depth == 0)
		return 0;
	location = &profile->locations[profile->stack_locations[stack->first + depth - 1]];
	return profile->functions[profile_location_lines(profile, location)->function].name;
}

static void add_sample(const struct evidence_input *input, size_t i, struct evidence *evidence,
		       struct finding *finding)
{
	const struct profile_sample *sample = &input->profile->samples[i];
	uint32_t program = input->programs->of_sample[i];

	evidence->callers[stack_matcher_caller(input->matcher, input->rule, sample->stack)] +=
		sample->count;
	evidence->wakers[waker_of(input->profile, sample->stack)] += sample->count;
	evidence->stacks[sample->stack] += sample->count;
	if (stack_matcher_is_interrupt(input->matcher, sample->stack))
		finding->nr_interrupts += sample->count;
	else
		evidence->programs[program] += sample->count;
	if (stack_matcher_starts(input->matcher, input->rule, sample->stack))
		evidence->starters[program] += sample->count;
}

/* Finds the `max` largest counts from `first` on; 0 does not count. Returns their number. */
static size_t find_top(const uint64_t *counts, size_t first, size_t nr, size_t max, struct top *top)
{
	size_t nr_top = 0;

	for (size_t i = first; i < nr; i++) {
		size_t at = nr_top;

		while (at > 0 && top[at - 1].count < counts[i])
			at--;
		if (counts[i] == 0 || at == max)
			continue;
		nr_top += nr_top < max;
		memmove(&top[at + 1], &top[at], (nr_top - at - 1) * sizeof(*top));
		top[at] = (struct top){ .index = i, .count = counts[i] };
	}
	return nr_top;
}

static int keep(struct arena *names, const struct strbuf *name, struct finding_part *part)
{
	int r = strbuf_error(name);

	if (r < 0)
		return r;
	part->name = arena_strndup(names, strbuf_str(name), name->len);
	return part->name ? 0 : arena_error(names);
}

typedef void (*append_name_fn)(const char *name, struct strbuf *out);

static void append_function(const char *name, struct strbuf *out)
{
	text_append_name(out, name, FUNCTION_COLUMNS, ELIDE_MIDDLE);
}

/* Appends the name in a frame such as "[woken by NAME of PROGRAM]". */
static void append_waker(const char *frame, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf waker = strbuf_with_max(NAME_MAX_BYTES);
	const char *name = frame + strlen(WAKER_FRAME_PREFIX);

	strbuf_append(&waker, name, strcspn(name, "]"));
	append_function(strbuf_str(&waker), out);
}

/* Keeps the strings with the largest counts. */
static int keep_strings(const struct evidence_input *input, const uint64_t *counts,
			append_name_fn append_name, struct arena *names, uint64_t of,
			struct finding_parts *parts)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_MAX_BYTES);
	struct top top[FINDING_PARTS_MAX];
	int r = 0;

	parts->nr = find_top(counts, 1, input->profile->strings.nr_strings, FINDING_PARTS_MAX, top);
	for (size_t i = 0; r == 0 && i < parts->nr; i++) {
		parts->items[i] = (struct finding_part){ .count = top[i].count, .of = of };
		strbuf_clear(&name);
		append_name(profile_string(input->profile, (uint32_t)top[i].index), &name);
		r = keep(names, &name, &parts->items[i]);
	}
	return r;
}

static int keep_programs(const struct evidence_input *input, const uint64_t *counts,
			 struct arena *names, struct finding_parts *parts)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_MAX_BYTES);
	struct top top[FINDING_PARTS_MAX];
	int r = 0;

	parts->nr = find_top(counts, 0, input->programs->nr, FINDING_PARTS_MAX, top);
	for (size_t i = 0; r == 0 && i < parts->nr; i++) {
		parts->items[i] = (struct finding_part){
			.count = top[i].count,
			.of = input->programs->units[top[i].index].total,
		};
		strbuf_clear(&name);
		units_append_name(input->programs, top[i].index, input->profile, &name);
		r = keep(names, &name, &parts->items[i]);
	}
	return r;
}

static void keep_stack(const struct evidence_input *input, const uint64_t *counts,
		       struct finding *finding)
{
	struct top top[1];

	if (find_top(counts, 0, input->profile->nr_stacks, 1, top) == 0)
		return;
	finding->stack = (uint32_t)top[0].index;
	finding->stack_count = top[0].count;
}

int evidence_collect(const struct evidence_input *input, struct arena *names,
		     struct finding *finding)
{
	_cleanup_(evidence_done) struct evidence evidence = { 0 };

	int r = evidence_init(&evidence, input);
	if (r < 0)
		return r;
	for (size_t i = 0; i < input->profile->nr_samples; i++)
		if (input->is_hit[i])
			add_sample(input, i, &evidence, finding);
	keep_stack(input, evidence.stacks, finding);
	r = keep_strings(input, evidence.callers, append_function, names, finding->count,
			 &finding->callers);
	if (r == 0)
		r = keep_strings(input, evidence.wakers, append_waker, names, finding->count,
				 &finding->wakers);
	if (r == 0)
		r = keep_programs(input, evidence.programs, names, &finding->programs);
	if (r == 0)
		r = keep_programs(input, evidence.starters, names, &finding->starters);
	return r;
}

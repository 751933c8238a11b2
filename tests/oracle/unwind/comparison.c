/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/unwind/comparison.h"

#include "base/err.h"

#include <string.h>

static const char *const result_names[] = {
#define X(NAME, name, words) [UNWIND_##NAME] = #name,
	UNWIND_RESULTS(X)
#undef X
};

const char *comparison_result_name(uint32_t result)
{
	return result < UNWIND_NR_RESULTS ? result_names[result] : "?";
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Depths beyond the table's end are counted with its last one. */
static void count_reason(struct comparison *comparison, const char *why)
{
	size_t i = 0;

	while (i < comparison->nr_reasons && strcmp(comparison->reasons[i].text, why) != 0)
		i++;
	if (i == COMPARISON_MAX_REASONS)
		i--;
	if (i == comparison->nr_reasons) {
		snprintf(comparison->reasons[i].text, sizeof(comparison->reasons[i].text), "%s",
			 why);
		comparison->nr_reasons++;
	}
	comparison->reasons[i].nr++;
}

static void count_end(struct comparison *comparison, const struct libdw_stack *oracle)
{
	if (oracle->end == LIBDW_END_OF_STACK)
		comparison->nr_end_of_stack++;
	if (oracle->end != LIBDW_FAILED)
		return;
	comparison->nr_failed++;
	count_reason(comparison, oracle->why);
}

/* Returns whether the stack ends well, as far as can be known. */
static bool is_untold(const struct bpf_stack *stack, const struct libdw_stack *oracle)
{
	return oracle->end == LIBDW_UNTOLD && stack->result == UNWIND_LOST_REGISTER &&
	       stack->nr_frames == oracle->nr_frames;
}

bool comparison_add(struct comparison *comparison, const struct bpf_stack *stack,
		    const struct libdw_stack *oracle)
{
	bool ends_well = stack->result == UNWIND_COMPLETE || is_untold(stack, oracle);
	size_t nr_both = oracle->nr_frames;
	size_t nr_agreeing = 0;

	if (oracle->end == LIBDW_COMPLETE) {
		nr_both = larger(stack->nr_frames, oracle->nr_frames);
		comparison->nr_seen_roots++;
		comparison->nr_roots += stack->result == UNWIND_COMPLETE;
	}
	for (size_t i = 0; i < stack->nr_frames && i < oracle->nr_frames; i++)
		nr_agreeing += stack->frames[i] == oracle->frames[i];
	if (is_untold(stack, oracle)) {
		comparison->nr_untold++;
	} else {
		comparison->nr_stacks++;
		comparison->results[stack->result]++;
	}
	comparison->nr_frames += nr_both;
	comparison->nr_agreeing += nr_agreeing;
	if (nr_agreeing < nr_both)
		comparison->nr_differing_stacks++;
	count_end(comparison, oracle);
	return ends_well && nr_agreeing == nr_both;
}

void comparison_print(const struct comparison *comparison, const char *prefix, FILE *out)
{
	const struct {
		const char *key;
		uint64_t nr;
	} numbers[] = {
		{ "stacks", comparison->nr_stacks },
		{ "frames", comparison->nr_frames },
		{ "agreeing", comparison->nr_agreeing },
		{ "differing_stacks", comparison->nr_differing_stacks },
		{ "seen_roots", comparison->nr_seen_roots },
		{ "roots", comparison->nr_roots },
		{ "end_of_stack", comparison->nr_end_of_stack },
		{ "oracle_failed", comparison->nr_failed },
		{ "untold", comparison->nr_untold },
	};

	for (size_t i = 0; i < array_len(numbers); i++)
		fprintf(out, "%s%s %llu\n", prefix, numbers[i].key,
			(unsigned long long)numbers[i].nr);
	for (size_t i = 0; i < UNWIND_NR_RESULTS; i++) {
		if (comparison->results[i] > 0)
			fprintf(out, "%sresult.%s %llu\n", prefix, result_names[i],
				(unsigned long long)comparison->results[i]);
	}
	for (size_t i = 0; i < comparison->nr_reasons; i++)
		fprintf(out, "%soracle.%s\t%llu\n", prefix, comparison->reasons[i].text,
			(unsigned long long)comparison->reasons[i].nr);
}

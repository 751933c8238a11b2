/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the stacks of a profile with the rules.
 *
 * Interrupts and softirqs run on top of whatever they interrupt. A rule looks at the frames above
 * them only, so that a function that merely was interrupted is not blamed, and a function beyond
 * them is not taken for a caller:
 *
 *	leaf   nft_do_chain		looked at
 *	       …
 *	       handle_softirqs		the end of what is looked at
 *	       asm_common_interrupt
 *	root   futex_wake		interrupted
 *
 * Of a wait, the whole stack of the thread is looked at, as the interrupt that stopped it is no
 * cause; that of its waker is not. */
#ifndef FINDINGS_STACK_MATCHER_H
#define FINDINGS_STACK_MATCHER_H

#include "base/err.h"
#include "findings/finding_rules.h"
#include "findings/name_sets.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FINDING_RULES_MAX 63

/* The sets of a rule's lists; negative: the rule lacks the list. */
struct rule_sets {
	int frames, callers, below, without, threads, skip, starters;
};

/* All functions of a location together. */
struct location_sets {
	struct name_bits sets;
	enum finding_code code;
	bool is_boundary; /* interrupted code begins behind it */
};

struct stack_matcher {
	const struct profile *profile; /* borrowed */
	struct finding_table table;
	struct name_sets sets;
	struct rule_sets rules[FINDING_RULES_MAX]; /* as the table's */
	int interrupts, softirqs; /* sets */
	struct name_bits *of_string; /* sets of each string of the profile; owned */
	struct location_sets *of_location; /* owned */
};

/* The profile must outlive the matcher. Errors: -ENOMEM. */
int stack_matcher_init(struct stack_matcher *matcher, const struct profile *profile) must_check;
void stack_matcher_done(struct stack_matcher *matcher);

/* Returns the rules whose lists of functions match a stack, as bits. */
uint64_t stack_matcher_rules(const struct stack_matcher *matcher, uint32_t stack);

/* Returns whether threads of that name match a rule, whatever they run. */
bool stack_matcher_has_thread(const struct stack_matcher *matcher, size_t rule, uint32_t name);

/* Returns the name of the first caller that a finding of this rule shows, as a string of the
 * profile, or 0. */
uint32_t stack_matcher_caller(const struct stack_matcher *matcher, size_t rule, uint32_t stack);

/* Returns whether one of the rule's starters is in the stack. */
bool stack_matcher_starts(const struct stack_matcher *matcher, size_t rule, uint32_t stack);

/* Returns whether the stack is that of an interrupt. */
bool stack_matcher_is_interrupt(const struct stack_matcher *matcher, uint32_t stack);

#endif

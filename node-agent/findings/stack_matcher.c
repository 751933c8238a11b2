/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/stack_matcher.h"

#include "profile/waker_frame.h"

#include <stdlib.h>

/* The last ones are roots of stacks that the agent has taken apart (pipeline/interrupts.h). */
static const char interrupts[] =
	"asm_sysvec_* asm_common_interrupt common_interrupt asm_call_on_stack asm_exc_nmi "
	"apic_timer_interrupt ret_from_intr call_function_interrupt call_function_single_interrupt "
	"reschedule_interrupt el0_irq el0_irq_naked el1_irq el0t_64_irq el0t_32_irq el1h_64_irq "
	"el1h_64_irq_handler el0t_64_irq_handler el0_interrupt el1_interrupt "
	"[softirq* [hardirq*";
/* Softirqs also run when a process enables them again. */
static const char softirqs[] = "handle_softirqs __do_softirq do_softirq do_softirq_own_stack "
			       "____do_softirq run_ksoftirqd";

/* A function in a stack; a location has several if there are inlined ones. */
struct frame {
	uint32_t name; /* string */
	enum finding_code code;
	struct name_bits sets;
};

/* A walk from the leaf to the root. */
struct frame_walk {
	const struct stack_matcher *matcher; /* borrowed */
	const uint32_t *locations; /* those that are left; borrowed */
	size_t nr_locations;
	uint32_t line; /* of the first one */
};

static struct frame_walk walk_of(const struct stack_matcher *matcher, uint32_t stack)
{
	const struct profile *profile = matcher->profile;
	size_t nr_skipped = waker_frame_depth(profile, stack);

	return (struct frame_walk){
		.matcher = matcher,
		.locations = profile->stack_locations + profile->stacks[stack].first + nr_skipped,
		.nr_locations = profile->stacks[stack].nr - nr_skipped,
	};
}

/* Finds the next function; skips what is not code. */
static bool walk_next(struct frame_walk *walk, struct frame *ret_frame)
{
	const struct profile *profile = walk->matcher->profile;

	while (walk->nr_locations > 0) {
		const struct profile_location *location = &profile->locations[*walk->locations];

		if (location->kind == FRAME_STOP || walk->line >= location->nr_lines) {
			walk->locations++;
			walk->nr_locations--;
			walk->line = 0;
			continue;
		}
		const struct profile_line *line = profile_location_lines(profile, location) +
						  walk->line++;
		uint32_t name = profile->functions[line->function].name;
		*ret_frame = (struct frame){
			.name = name,
			.code = location->kind == FRAME_KERNEL ? CODE_KERNEL : CODE_USER,
			.sets = walk->matcher->of_string[name],
		};
		return true;
	}
	return false;
}

/* Returns whether a function is the last one of an interrupt that runs on top of other code. */
static bool is_boundary(const struct stack_matcher *matcher, enum finding_code code,
			struct name_bits sets)
{
	return code == CODE_KERNEL && matcher->profile->type != PROFILE_OFF_CPU &&
	       (name_bits_have(sets, matcher->interrupts) ||
		name_bits_have(sets, matcher->softirqs));
}

/* As walk_next(), but ends where interrupted code begins. */
static bool walk_next_own(struct frame_walk *walk, struct frame *ret_frame)
{
	return walk_next(walk, ret_frame) &&
	       !is_boundary(walk->matcher, ret_frame->code, ret_frame->sets);
}

static bool is_in(const struct frame *frame, enum finding_code code, int set)
{
	return set >= 0 && (code == CODE_ANY || frame->code == code) &&
	       name_bits_have(frame->sets, set);
}

static int add_list(struct stack_matcher *matcher, const char *list, char separator, int *ret_set)
{
	*ret_set = -1;
	if (!list)
		return 0;
	int set = name_sets_add(&matcher->sets, list, separator);
	if (set < 0)
		return set;
	*ret_set = set;
	return 0;
}

static int add_rule(struct stack_matcher *matcher, const struct finding_rule *rule,
		    struct rule_sets *ret_sets)
{
	const struct {
		const char *list;
		char separator;
		int *set;
	} lists[] = {
		{ rule->frames, ' ', &ret_sets->frames },
		{ rule->callers, ' ', &ret_sets->callers },
		{ rule->below, ' ', &ret_sets->below },
		{ rule->without, ' ', &ret_sets->without },
		{ rule->threads, ',', &ret_sets->threads },
		{ rule->skip, ' ', &ret_sets->skip },
		{ rule->starters, ' ', &ret_sets->starters },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < array_len(lists); i++)
		r = add_list(matcher, lists[i].list, lists[i].separator, lists[i].set);
	return r;
}

static int compile(struct stack_matcher *matcher)
{
	int r = name_sets_init(&matcher->sets);

	if (r == 0)
		r = add_list(matcher, interrupts, ' ', &matcher->interrupts);
	if (r == 0)
		r = add_list(matcher, softirqs, ' ', &matcher->softirqs);
	for (size_t i = 0; r == 0 && i < matcher->table.nr; i++)
		r = add_rule(matcher, &matcher->table.rules[i], &matcher->rules[i]);
	return r;
}

/* Most stacks match no rule. To see that, one look at each location is enough. */
static void look_up_location(struct stack_matcher *matcher, size_t i)
{
	const struct profile_location *location = &matcher->profile->locations[i];
	const struct profile_line *lines = profile_location_lines(matcher->profile, location);
	struct location_sets *to = &matcher->of_location[i];

	to->code = location->kind == FRAME_KERNEL ? CODE_KERNEL : CODE_USER;
	if (location->kind == FRAME_STOP)
		return;
	for (uint32_t line = 0; line < location->nr_lines; line++) {
		uint32_t name = matcher->profile->functions[lines[line].function].name;

		name_bits_add(&to->sets, matcher->of_string[name]);
	}
	to->is_boundary = is_boundary(matcher, to->code, to->sets);
}

static int look_up(struct stack_matcher *matcher)
{
	const struct profile *profile = matcher->profile;
	size_t nr_strings = profile->strings.nr_strings;

	matcher->of_string = calloc(nr_strings + 1, sizeof(*matcher->of_string));
	matcher->of_location = calloc(profile->nr_locations + 1, sizeof(*matcher->of_location));
	if (!matcher->of_string || !matcher->of_location)
		return -ENOMEM;
	for (uint32_t i = 1; i < nr_strings; i++)
		matcher->of_string[i] = name_sets_of(&matcher->sets, profile_string(profile, i));
	for (size_t i = 0; i < profile->nr_locations; i++)
		look_up_location(matcher, i);
	return 0;
}

int stack_matcher_init(struct stack_matcher *matcher, const struct profile *profile)
{
	*matcher = (struct stack_matcher){
		.profile = profile,
		.table = finding_table_of(profile->type),
	};
	int r = compile(matcher);
	if (r == 0)
		r = look_up(matcher);
	if (r < 0)
		stack_matcher_done(matcher);
	return r;
}

void stack_matcher_done(struct stack_matcher *matcher)
{
	name_sets_done(&matcher->sets);
	free(matcher->of_string);
	free(matcher->of_location);
	*matcher = (struct stack_matcher){ 0 };
}

/* Finds the outermost of the rule's functions, and leaves the walk behind it. */
static bool find_outermost(const struct rule_sets *sets, enum finding_code code,
			   struct frame_walk *walk)
{
	struct frame_walk behind = *walk;
	struct frame frame;
	bool is_found = false;

	while (walk_next_own(&behind, &frame)) {
		if (!is_in(&frame, code, sets->frames))
			continue;
		*walk = behind;
		is_found = true;
	}
	return is_found;
}

/* Finds the first frame outside of the functions that lead to the rule's own. */
static bool find_caller(const struct rule_sets *sets, enum finding_code code,
			struct frame_walk walk, struct frame *ret_frame)
{
	while (walk_next_own(&walk, ret_frame))
		if ((code == CODE_ANY || ret_frame->code == code) &&
		    !is_in(ret_frame, code, sets->skip))
			return true;
	return false;
}

static bool is_below(const struct rule_sets *sets, enum finding_code code, struct frame_walk walk)
{
	struct frame frame;

	while (walk_next_own(&walk, &frame))
		if (is_in(&frame, code, sets->below))
			return true;
	return false;
}

/* The sets of all functions of a stack, by the code that they are in. */
struct stack_sets {
	struct name_bits own[NR_FINDING_CODES]; /* without interrupted code */
	struct name_bits all[NR_FINDING_CODES];
};

static bool matches(const struct stack_matcher *matcher, size_t rule,
		    const struct stack_sets *stack_sets, uint32_t stack)
{
	const struct rule_sets *sets = &matcher->rules[rule];
	enum finding_code code = matcher->table.rules[rule].code;
	struct frame_walk walk = walk_of(matcher, stack);
	struct frame caller;

	if (sets->frames < 0) /* a rule of waits: the reason decides */
		return matcher->profile->type == PROFILE_OFF_CPU;
	if (!name_bits_have(stack_sets->own[code], sets->frames))
		return false;
	if (sets->without >= 0 && name_bits_have(stack_sets->all[code], sets->without))
		return false;
	if (!find_outermost(sets, code, &walk))
		return false;
	if (sets->callers >= 0 &&
	    (!find_caller(sets, code, walk, &caller) || !is_in(&caller, code, sets->callers)))
		return false;
	return sets->below < 0 || is_below(sets, code, walk);
}

static struct stack_sets sets_of(const struct stack_matcher *matcher, uint32_t id)
{
	const struct profile_stack *stack = &matcher->profile->stacks[id];
	struct stack_sets sets = { 0 };
	bool is_interrupted = false;

	size_t nr_skipped = waker_frame_depth(matcher->profile, id);

	for (size_t i = stack->first + nr_skipped; i < stack->first + stack->nr; i++) {
		const struct location_sets *location =
			&matcher->of_location[matcher->profile->stack_locations[i]];

		name_bits_add(&sets.all[location->code], location->sets);
		is_interrupted = is_interrupted || location->is_boundary;
		if (!is_interrupted)
			name_bits_add(&sets.own[location->code], location->sets);
	}
	for (size_t code = 0; code < CODE_ANY; code++) {
		name_bits_add(&sets.own[CODE_ANY], sets.own[code]);
		name_bits_add(&sets.all[CODE_ANY], sets.all[code]);
	}
	return sets;
}

uint64_t stack_matcher_rules(const struct stack_matcher *matcher, uint32_t stack)
{
	struct stack_sets sets = sets_of(matcher, stack);
	uint64_t rules = 0;

	if (!name_bits_any(sets.own[CODE_ANY]) && matcher->profile->type == PROFILE_CPU)
		return 0;
	for (size_t i = 0; i < matcher->table.nr; i++)
		if (matches(matcher, i, &sets, stack))
			rules |= UINT64_C(1) << i;
	return rules;
}

bool stack_matcher_has_thread(const struct stack_matcher *matcher, size_t rule, uint32_t name)
{
	int set = matcher->rules[rule].threads;

	return set >= 0 && name_bits_have(matcher->of_string[name], set);
}

uint32_t stack_matcher_caller(const struct stack_matcher *matcher, size_t rule, uint32_t stack)
{
	const struct finding_rule *of = &matcher->table.rules[rule];
	const struct rule_sets *sets = &matcher->rules[rule];
	struct frame_walk walk = walk_of(matcher, stack);
	struct frame caller;

	if ((sets->frames < 0 || find_outermost(sets, of->code, &walk)) &&
	    find_caller(sets, of->caller_code, walk, &caller))
		return caller.name;
	return 0;
}

bool stack_matcher_starts(const struct stack_matcher *matcher, size_t rule, uint32_t stack)
{
	struct frame_walk walk = walk_of(matcher, stack);
	struct frame frame;

	while (walk_next_own(&walk, &frame))
		if (is_in(&frame, matcher->table.rules[rule].code, matcher->rules[rule].starters))
			return true;
	return false;
}

bool stack_matcher_is_interrupt(const struct stack_matcher *matcher, uint32_t id)
{
	const struct profile_stack *stack = &matcher->profile->stacks[id];

	for (size_t i = stack->first; i < stack->first + stack->nr; i++) {
		const struct location_sets *location =
			&matcher->of_location[matcher->profile->stack_locations[i]];

		if (is_boundary(matcher, location->code, location->sets) &&
		    name_bits_have(location->sets, matcher->interrupts))
			return true;
	}
	return false;
}

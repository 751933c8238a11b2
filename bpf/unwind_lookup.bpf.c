/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* From the address of a frame to the rule that holds there: the range of the process that it is
 * in, and the row of that file's table. Formats: shared/cfi.h.
 *
 * Called by unwind_native.bpf.c, on this CPU's scratch record, where the answer is left. Rules
 * that were found are kept there: searching reads a dozen places all over memory, which are in
 * no cache when samples are rare.
 * Maps: scratch_of_cpu, processes, tables, arena.
 * Limits: MAPPING_TABLE_MAX_RANGES ranges of a process, the rows of one page. */
#include "bpf/maps.bpf.h"
#include "bpf/unwind.bpf.h"

#define MAX_SEARCH_STEPS 16 /* in MAPPING_TABLE_MAX_RANGES ranges, or in the rows of a page */

/* Finds the first range that begins above the frame's address, as state->low. */
__noinline int search_ranges(void)
{
	struct scratch *scratch = get_scratch();
	__u64 address;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	address = code_address(state);
	state->low = 0;
	state->high = state->nr_ranges;
	for (int i = 0; i < MAX_SEARCH_STEPS && state->low < state->high; i++) {
		__u32 middle = (state->low + state->high) / 2;
		const __u64 *start = arena_at(state->mapping_table,
					      MAPPING_TABLE_STARTS + middle * sizeof(__u64), 8);

		if (!start)
			return UNWIND_BAD_TABLE;
		if (*start <= address)
			state->low = middle + 1;
		else
			state->high = middle;
	}
	return GOES_ON;
}

/* Below the first range is a hole as well. */
static __always_inline int set_range(struct unwind_state *state)
{
	const struct mapping_range *range;
	const __u64 *start;

	state->range_start = 0;
	state->range_end = ~0ULL;
	state->range = (struct mapping_range){ .is_hole = 1 };
	if (state->low < state->nr_ranges) {
		start = arena_at(state->mapping_table,
				 MAPPING_TABLE_STARTS + state->low * sizeof(__u64), 8);
		if (!start)
			return UNWIND_BAD_TABLE;
		state->range_end = *start;
	}
	if (state->low == 0)
		return GOES_ON;
	start = arena_at(state->mapping_table,
			 MAPPING_TABLE_STARTS + (state->low - 1) * sizeof(__u64), 8);
	range = arena_at(state->mapping_table,
			 state->ranges_offset + (state->low - 1) * sizeof(*range), 32);
	if (!start || !range)
		return UNWIND_BAD_TABLE;
	state->range_start = *start;
	state->range = *range;
	return GOES_ON;
}

/* A library may have been unloaded, and another one be in its place: nobody tells. */
static __always_inline bool is_unchecked(const struct unwind_state *state)
{
	return state->mappings != 0 && state->range.slot != 0 &&
	       state->range.checked_by != state->mappings;
}

static __always_inline int find_range_of_table(struct unwind_state *state)
{
	int result = search_ranges();

	state->origin = RANGE_OF_LIST;
	if (result == GOES_ON)
		result = set_range(state);
	return result == GOES_ON && is_unchecked(state) ? check_range() : result;
}

/* Neighbouring frames are often in one file: the range of the last frame is tried first. What is
 * in no table, or in a hole of one, the task's own mappings may tell. */
static __always_inline int find_range_of(struct unwind_state *state)
{
	__u64 address = code_address(state);

	if (address >= state->range_start && address < state->range_end)
		return GOES_ON;
	if (state->mapping_table != 0) {
		int result = find_range_of_table(state);

		if (result != GOES_ON || !state->range.is_hole)
			return result;
	}
	return find_range_of_task();
}

__noinline int find_range(void)
{
	struct scratch *scratch = get_scratch();

	return scratch ? find_range_of(&scratch->unwind) : UNWIND_BAD_TABLE;
}

/* Finds the first row of the table that begins above an offset of the file, as state->low, and
 * whether it begins right behind. The rows of one page have the same upper bits. */
__noinline int search_rows(__u32 table, __u32 rows_offset, __u32 pc)
{
	struct scratch *scratch = get_scratch();
	__u32 next = pc;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	for (int i = 0; i < MAX_SEARCH_STEPS && state->low < state->high; i++) {
		__u32 middle = (state->low + state->high) / 2;
		const __u32 *row = arena_at(table, rows_offset + middle * sizeof(*row), 4);

		if (!row)
			return UNWIND_BAD_TABLE;
		if (ROW_PC(*row) <= pc) {
			state->low = middle + 1;
		} else {
			state->high = middle;
			next = ROW_PC(*row);
		}
	}
	state->is_end_of_row = next == pc + 1;
	return GOES_ON;
}

static __always_inline __u32 nr_bits(__u32 bits)
{
	bits = bits - (bits >> 1 & 0x5555);
	bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
	bits = (bits + (bits >> 4)) & 0x0f0f;
	return (bits + (bits >> 8)) & 0x1f;
}

/* Inside a run of pushes or pops the CFA is as far away as were passed. */
static __always_inline void apply_run(struct cfi_rule *rule, __u32 nr_bytes)
{
	__u32 passed;

	if (!(rule->flags & (CFI_RUN_UP | CFI_RUN_DOWN)))
		return;
	if (nr_bytes > CFI_MAX_RUN)
		nr_bytes = CFI_MAX_RUN;
	passed = 8 * nr_bits(rule->arg & ((2U << nr_bytes) - 1));
	rule->offset = (__s32)((__u32)rule->offset + (rule->flags & CFI_RUN_UP ? passed : -passed));
}

/* The rule of the row before state->low, which holds at `offset`. */
static __always_inline int set_rule(struct unwind_state *state, __u32 unit,
				    const struct row_table *table, __u32 offset)
{
	const struct cfi_rule *rule;
	const __u32 *row;

	if (state->low == 0)
		return GOES_ON;
	row = arena_at(unit, table->rows_offset + (state->low - 1) * sizeof(*row), 4);
	if (!row)
		return UNWIND_BAD_TABLE;
	rule = arena_at(unit, table->rules_offset + ROW_RULE(*row) * sizeof(*rule), 16);
	if (!rule)
		return UNWIND_BAD_TABLE;
	state->rule = *rule;
	apply_run(&state->rule, (offset - ROW_PC(*row)) & 0xffff);
	return GOES_ON;
}

static __always_inline int find_rule_in(struct unwind_state *state, __u32 unit)
{
	__u64 offset = code_address(state) - state->range.bias;
	const struct row_table *table = arena_at(unit, 0, 32);
	const __u32 *first, *end;
	__u64 page;

	if (!table)
		return UNWIND_BAD_TABLE;
	page = offset / ROW_PAGE_BYTES - table->first_page;
	if (page >= table->nr_pages)
		return GOES_ON;
	first = arena_at(unit, ROW_TABLE_PAGES + page * sizeof(*first), 4);
	end = arena_at(unit, ROW_TABLE_PAGES + (page + 1) * sizeof(*end), 4);
	if (!first || !end)
		return UNWIND_BAD_TABLE;
	state->low = *first;
	state->high = *end;
	if (search_rows(unit, table->rows_offset, offset & 0xffff) != GOES_ON)
		return UNWIND_BAD_TABLE;
	return set_rule(state, unit, table, offset);
}

/* Marks a table as needed now. Writes only if that is new, because all CPUs share the cache
 * line. */
static __always_inline void mark_used(struct table_slot *slot)
{
	__u32 zero = 0;
	const struct table_slot *clock = bpf_map_lookup_elem(&tables, &zero);

	if (clock && slot->used != clock->used)
		slot->used = clock->used;
}

/* Asks the agent, once for each table, to look for new mappings, because code that is in no
 * range may have been mapped since the table was made. Without a table the agent looks when it
 * polls. */
static __always_inline void ask_for_news(struct unwind_state *state)
{
	struct mapping_table *table;

	if (state->mapping_table == 0)
		return;
	table = (struct mapping_table *)arena_at(state->mapping_table, 0, 32);
	if (!table || table->is_asked)
		return;
	table->is_asked = 1;
	state->asks = true;
}

/* Asks the agent, once, to look at the process now, so that its files are known. A task that
 * exits has no mappings any more. */
static __always_inline int ask_for_files(struct unwind_state *state)
{
	__u64 asked = MAPPING_BINDING_ASKED;

	if (state->is_exiting)
		return UNWIND_UNREADABLE_STACK;
	if (!state->was_asked)
		state->asks = bpf_map_update_elem(&processes, &state->pid, &asked, BPF_ANY) == 0;
	return UNWIND_NEW_PROCESS;
}

static __always_inline struct known_rule *known_rule_of(const struct unwind_state *state)
{
	__u32 place = known_rule_place(code_address(state), state->mapping_table_id);

	return bpf_map_lookup_elem(&known_rules, &place);
}

/* Returns a known rule, with its range, as a search would find it. */
static __always_inline bool recall_rule(struct scratch *scratch)
{
	struct unwind_state *state = &scratch->unwind;
	const struct known_rule *known = known_rule_of(state);
	struct table_slot *slot;

	if (!known || known->mapping_table_id == 0 ||
	    known->mapping_table_id != state->mapping_table_id ||
	    known->mappings != state->mappings || known->address != code_address(state))
		return false;
	slot = bpf_map_lookup_elem(&tables, &known->slot);
	if (!slot)
		return false;
	mark_used(slot);
	state->file_layout = slot->runtime;
	state->rule = known->rule;
	state->is_end_of_row = false;
	state->range_start = known->range_start;
	state->range_end = known->range_end;
	state->range = (struct mapping_range){ .bias = known->bias, .slot = known->slot };
	state->origin = RANGE_OF_LIST;
	return true;
}

/* Keeps the rule that was found. At the end of a row the next row may matter as well, so its
 * rule is not kept. */
static __always_inline void keep_rule(struct scratch *scratch)
{
	const struct unwind_state *state = &scratch->unwind;
	struct known_rule *known = known_rule_of(state);

	if (!known || state->origin != RANGE_OF_LIST || state->is_end_of_row)
		return;
	*known = (struct known_rule){ .address = code_address(state),
				      .mappings = state->mappings,
				      .range_start = state->range_start,
				      .range_end = state->range_end,
				      .bias = state->range.bias,
				      .mapping_table_id = state->mapping_table_id,
				      .slot = state->range.slot,
				      .rule = state->rule };
}

__noinline int find_rule_of_range(void)
{
	struct scratch *scratch = get_scratch();
	struct table_slot *slot;
	__u32 unit;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	state->rule = (struct cfi_rule){ .kind = CFA_NONE };
	state->is_end_of_row = false;
	state->file_layout = 0;
	if (state->range.slot == 0)
		return state->range.is_postponed ? UNWIND_NOT_LOADED : GOES_ON;
	slot = bpf_map_lookup_elem(&tables, &state->range.slot);
	if (!slot)
		return UNWIND_BAD_TABLE;
	mark_used(slot);
	state->file_layout = slot->runtime;
	unit = slot->unit;
	if (unit == TABLE_NOT_LOADED)
		return UNWIND_NOT_LOADED;
	if (unit == TABLE_WITHOUT_CFI)
		return GOES_ON;
	return find_rule_in(state, unit);
}

static __always_inline int search_rule(struct scratch *scratch)
{
	struct unwind_state *state = &scratch->unwind;
	int result = find_range_of(state);

	if (result != GOES_ON)
		return result;
	if (state->origin == RANGE_UNKNOWN)
		return ask_for_files(state);
	if (state->origin == RANGE_OF_TASK)
		ask_for_news(state);
	result = find_rule_of_range();
	if (result == GOES_ON && state->range.slot != 0)
		keep_rule(scratch);
	return result;
}

__noinline int find_rule(void)
{
	struct scratch *scratch = get_scratch();

	if (!scratch)
		return UNWIND_BAD_TABLE;
	return recall_rule(scratch) ? GOES_ON : search_rule(scratch);
}

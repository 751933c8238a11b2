/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the tree of DIEs collects pieces of code for all addresses of the unit. Pieces are
 * nested as calls were inlined:
 *
 *	main      |-------------------------|	DW_TAG_subprogram
 *	parse          |-------|		DW_TAG_inlined_subroutine in it
 *	skip              |-|			inlined into parse
 *	          ^main^parse^skip^parse^main	segments
 *
 * A sweep over the pieces, from low to high, finds the innermost function of each segment. A
 * function has several pieces if the compiler moved a part of it elsewhere.
 *
 * The walk follows the bytes of the unit: the next sibling of a parent begins where the list of its
 * children ends. To look for that sibling from the parent would read a deep tree once per level if
 * the compiler does not write DW_AT_sibling. The walk only moves forward, so it ends even in a
 * malformed file. */
#include "symbol/dwarf/dwarf_functions.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "symbol/dwarf/dwarf_file.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>

#define MAX_LEVELS 512 /* of the tree; deeper ones are ignored */
#define MAX_PIECES ((size_t)1 << 22) /* of a unit */
#define MAX_STEPS (UINT64_C(10) << 20) /* per unit: about 300 MB of DIEs */

struct piece {
	uint64_t low;
	uint64_t high; /* exclusive */
	uint32_t function;
	uint32_t level;
};

struct walk {
	struct dwarf_functions *functions;
	struct piece *pieces; /* owned */
	size_t nr_pieces;
	size_t cap_pieces;
	const unsigned char *end; /* of the unit */
	uint64_t *steps;
	uint64_t max_steps;
	size_t level;
	uint32_t around[MAX_LEVELS]; /* by level: the function that contains its DIEs */
};

struct sweep {
	struct dwarf_functions *functions;
	const struct piece **open; /* borrowed; pieces that have begun, the innermost one last */
	size_t nr_open;
};

static void walk_done(struct walk *walk)
{
	free(walk->pieces);
}

void dwarf_functions_done(struct dwarf_functions *functions)
{
	free(functions->functions);
	free(functions->segments);
	*functions = (struct dwarf_functions){ 0 };
}

/* Returns the end of a unit, at most that of its section; NULL if it is unknown. */
static const unsigned char *unit_end(Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	const unsigned char *limit = dwarf_section_end(dwarf, unit->addr);
	Dwarf_Off offset = dwarf_dieoffset(unit);
	Dwarf_Off next;
	size_t header_size;

	if (!limit || dwarf_nextcu(dwarf, offset - dwarf_cuoffset(unit), &next, &header_size, NULL,
				   NULL, NULL) != 0)
		return NULL;

	size_t room = (size_t)(limit - (const unsigned char *)unit->addr);
	return next >= offset && next - offset < room ? limit - room + (next - offset) : limit;
}

/* Returns whether the children of such a DIE may describe code. */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_with_stmt:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static int add_piece(struct walk *walk, uint32_t function, uint64_t low, uint64_t high)
{
	if (low == 0 || high <= low)
		return 0;

	int r = array_grow(walk->pieces, walk->cap_pieces, walk->nr_pieces + 1, MAX_PIECES);
	if (r < 0)
		return r;
	walk->pieces[walk->nr_pieces++] = (struct piece){
		.low = low,
		.high = high,
		.function = function,
		.level = (uint32_t)walk->level,
	};
	return 0;
}

static int add_pieces(struct walk *walk, Dwarf_Die *die, uint32_t function)
{
	Dwarf_Addr base = 0;
	Dwarf_Addr low;
	Dwarf_Addr high;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &low, &high)) > 0;) {
		int r = add_piece(walk, function, low, high);
		if (r < 0)
			return r;
		if (++*walk->steps > walk->max_steps)
			return -ENOSPC;
	}
	return 0;
}

/* Adds a function if it has code, and stores its number in `*around`. An inlined function that is
 * in no other one belongs to a function that the linker dropped. Its addresses are meaningless, so
 * it is not added. */
static int add_function(struct walk *walk, Dwarf_Die *die, bool is_inlined, uint32_t *around)
{
	struct dwarf_functions *functions = walk->functions;
	uint32_t number = (uint32_t)functions->nr_functions;
	size_t nr_pieces = walk->nr_pieces;

	if (is_inlined && *around == DWARF_NO_FUNCTION)
		return 0;

	int r = add_pieces(walk, die, number);
	if (r < 0 || walk->nr_pieces == nr_pieces)
		return r;

	r = array_grow(functions->functions, functions->cap_functions, functions->nr_functions + 1,
		       MAX_PIECES);
	if (r < 0)
		return r;
	functions->functions[functions->nr_functions++] = (struct dwarf_function){
		.die = die->addr,
		.caller = is_inlined ? *around : DWARF_NO_FUNCTION,
	};
	*around = number;
	return 0;
}

/* Moves from the end of a list of children to the DIE after it. Returns 0 at the end of the
 * unit. */
static int climb(struct walk *walk, const unsigned char *at, Dwarf_Die *die)
{
	while (at && at < walk->end && *at == 0 && walk->level > 0) {
		at++;
		walk->level--;
	}
	if (!at || at >= walk->end || *at == 0)
		return 0;
	*die = (Dwarf_Die){ .addr = (void *)at, .cu = die->cu };
	return 1;
}

/* Moves to the first child, whose containing function is `around`, or past the DIE and its
 * children. Returns 0 at the end and at damaged data. */
static int walk_on(struct walk *walk, Dwarf_Die *die, bool descends, uint32_t around)
{
	Dwarf_Die next = { 0 };

	if (descends && walk->level + 1 < MAX_LEVELS && dwarf_child(die, &next) == 0) {
		walk->around[++walk->level] = around;
		*die = next;
		return 1;
	}

	int r = dwarf_siblingof(die, &next);
	if (r < 0)
		return 0;
	if (r > 0)
		return climb(walk, next.addr, die);
	*die = next;
	return 1;
}

static int walk_unit(struct walk *walk, Dwarf_Die *unit)
{
	Dwarf_Die die;

	walk->around[0] = DWARF_NO_FUNCTION;
	if (!walk->end || dwarf_child(unit, &die) != 0)
		return 0;
	for (bool goes_on = true; goes_on;) {
		int tag = dwarf_tag(&die);
		uint32_t around = walk->around[walk->level];
		int r = 0;

		if (++*walk->steps > walk->max_steps)
			return -ENOSPC;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			r = add_function(walk, &die, tag == DW_TAG_inlined_subroutine, &around);
		if (r < 0)
			return r;
		goes_on = walk_on(walk, &die, is_scope(tag), around) > 0;
	}
	return 0;
}

static int compare_pieces(const void *one, const void *other)
{
	const struct piece *a = one;
	const struct piece *b = other;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Returns the innermost open piece, or NULL. */
static const struct piece *innermost(const struct sweep *sweep)
{
	return sweep->nr_open > 0 ? sweep->open[sweep->nr_open - 1] : NULL;
}

/* Begins a segment with the innermost function that is open now. */
static int emit(struct sweep *sweep, uint64_t low)
{
	struct dwarf_functions *functions = sweep->functions;
	const struct piece *piece = innermost(sweep);

	if (functions->nr_segments > 0 &&
	    functions->segments[functions->nr_segments - 1].low == low)
		functions->nr_segments--;

	int r = array_grow(functions->segments, functions->cap_segments, functions->nr_segments + 1,
			   2 * MAX_PIECES);
	if (r < 0)
		return r;
	functions->segments[functions->nr_segments++] = (struct dwarf_segment){
		.low = low,
		.function = piece ? piece->function : DWARF_NO_FUNCTION,
	};
	return 0;
}

/* Closes the pieces that end at or before an address. */
static int close_pieces(struct sweep *sweep, uint64_t address)
{
	while (sweep->nr_open > 0 && innermost(sweep)->high <= address) {
		uint64_t end = innermost(sweep)->high;

		while (sweep->nr_open > 0 && innermost(sweep)->high <= end)
			sweep->nr_open--;
		int r = emit(sweep, end);
		if (r < 0)
			return r;
	}
	return 0;
}

static int make_segments(const struct walk *walk)
{
	_cleanup_free_ const struct piece **open = calloc(walk->nr_pieces, sizeof(struct piece *));
	struct sweep sweep = { .functions = walk->functions, .open = open };

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < walk->nr_pieces; i++) {
		int r = close_pieces(&sweep, walk->pieces[i].low);
		if (r < 0)
			return r;
		open[sweep.nr_open++] = &walk->pieces[i];
		r = emit(&sweep, walk->pieces[i].low);
		if (r < 0)
			return r;
	}
	return close_pieces(&sweep, UINT64_MAX);
}

int dwarf_functions_init(struct dwarf_functions *functions, Dwarf_Die *unit, uint64_t *steps)
{
	*functions = (struct dwarf_functions){ 0 };
	_cleanup_(walk_done) struct walk walk = {
		.functions = functions,
		.end = unit_end(unit),
		.steps = steps,
		.max_steps = *steps + MAX_STEPS,
	};

	int r = walk_unit(&walk, unit);
	if (r == 0 && walk.nr_pieces > 0) {
		qsort(walk.pieces, walk.nr_pieces, sizeof(*walk.pieces), compare_pieces);
		r = make_segments(&walk);
	}
	if (r < 0)
		dwarf_functions_done(functions);
	return r;
}

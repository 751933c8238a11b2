/* SPDX-License-Identifier: Apache-2.0 */
/* The index of units is made when the file is opened (dwarf_index.h). A unit is read as a whole:
 * the agent keeps it and does not request it again. libdw keeps memory for each unit that it has
 * read and cannot release a single one. When this becomes too much, all of it is released. */
#include "symbol/dwarf/dwarf_lines.h"

#include "symbol/dwarf/dwarf_file.h"
#include "symbol/dwarf/dwarf_index.h"
#include "symbol/dwarf/dwarf_unit.h"
#include "symbol/dwarf/lines_unit.h"
#include "symbol/dwarf/lines_writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIBDW_BYTES ((size_t)64 << 20) /* kept between units; a single unit may need more */

/* Number of DIEs and ranges visited for one request. A unit that was begun is finished, up to a
 * limit of its own. */
#define MAX_STEPS (UINT64_C(20) << 20)

struct dwarf_lines {
	struct dwarf_file file;
	struct dwarf_index index;
	size_t libdw_bytes; /* estimate */
};

/* One request. */
struct answer {
	struct dwarf_lines *lines;
	struct lines_writer writer;
	struct dwarf_unit_cost cost;
	size_t *places; /* owned; offset of each unit in `out`, plus 1; 0: not written */
	uint64_t gap_end; /* end of the last gap that was written */
	struct strbuf *out;
};

static void answer_done(struct answer *answer)
{
	lines_writer_done(&answer->writer);
	free(answer->places);
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	dwarf_index_done(&lines->index);
	dwarf_file_close(&lines->file);
	free(lines);
}

int dwarf_lines_open(int fd, int alt_fd, struct dwarf_lines **ret_lines)
{
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;

	int r = dwarf_file_open(&lines->file, fd, alt_fd);
	if (r == 0)
		r = dwarf_index_init(&lines->index, lines->file.main.dwarf);
	if (r < 0)
		return r;
	*ret_lines = take_ptr(lines);
	return 0;
}

/* Begins a unit, which has at least one range. Ranges are sorted, so the first is the lowest. */
static void begin_unit(struct answer *answer, uint32_t number)
{
	const struct dwarf_index *index = &answer->lines->index;
	bool is_first = true;

	for (size_t i = 0; i < index->nr_ranges; i++) {
		const struct dwarf_index_range *range = &index->ranges[i];

		if (range->unit != number)
			continue;
		if (is_first)
			lines_writer_begin(&answer->writer, range->low);
		lines_writer_add_range(&answer->writer, range->low, range->high);
		is_first = false;
	}
}

static int forget_if_too_much(struct dwarf_lines *lines)
{
	if (lines->libdw_bytes <= MAX_LIBDW_BYTES)
		return 0;
	lines->libdw_bytes = 0;
	return dwarf_file_forget(&lines->file);
}

/* Writes a unit. A unit that is too large is written without content, so that it is not requested
 * again. Errors: -ENOSPC no room even for that, -ENOMEM. */
static int write_unit(struct answer *answer, uint32_t number)
{
	struct dwarf_lines *lines = answer->lines;
	enum symbol_language language;
	size_t place = answer->out->len;

	int r = forget_if_too_much(lines);
	if (r < 0)
		return r;
	begin_unit(answer, number);
	answer->cost.nr_libdw_bytes = 0;
	r = dwarf_unit_write(lines->file.main.dwarf, lines->index.units[number].offset,
			     &answer->cost, &answer->writer, &language);
	lines->libdw_bytes += answer->cost.nr_libdw_bytes;
	if (r == 0)
		r = lines_writer_finish(&answer->writer, number, language, answer->out);
	if (r == -ENOSPC)
		r = lines_writer_finish_empty(&answer->writer, number, true, answer->out);
	if (r == 0)
		answer->places[number] = place + 1;
	return r;
}

/* Returns whether a written unit has functions at an address. */
static bool knows(const struct answer *answer, uint32_t number, uint64_t address)
{
	struct symbol_line found[SYMBOL_MAX_LINES];
	struct lines_unit unit;

	lines_unit_find_parts(answer->out->data + answer->places[number] - 1, &unit);
	return lines_unit_find(&unit, address, found) > 0;
}

/* Writes an empty unit for the code between units, so that it is not requested again. */
static int write_gap(struct answer *answer, uint64_t address)
{
	struct dwarf_index_range gap = dwarf_index_gap(&answer->lines->index, address);

	if (address < answer->gap_end)
		return 0;
	if (address - gap.low > INT32_MAX)
		gap.low = address - INT32_MAX;
	if (gap.high - gap.low > UINT32_MAX)
		gap.high = gap.low + UINT32_MAX;
	answer->gap_end = gap.high;
	lines_writer_begin(&answer->writer, gap.low);
	lines_writer_add_range(&answer->writer, gap.low, gap.high);
	return lines_writer_finish_empty(&answer->writer, LINES_NO_UNIT, false, answer->out);
}

/* Writes the units that contain an address, up to the first one that has functions at it. */
static int write_address(struct answer *answer, uint64_t address)
{
	struct dwarf_index_search search = dwarf_index_lookup(&answer->lines->index, address);
	bool is_in_unit = false;

	for (uint32_t number; dwarf_index_next(&search, &number);) {
		is_in_unit = true;
		if (answer->places[number] == 0) {
			if (answer->cost.nr_steps > MAX_STEPS)
				return 0;
			int r = write_unit(answer, number);
			if (r < 0)
				return r;
		}
		if (knows(answer, number, address))
			return 0;
	}
	return is_in_unit || address == 0 || address == UINT64_MAX ? 0 : write_gap(answer, address);
}

static int compare_addresses(const void *one, const void *other)
{
	const uint64_t *a = one;
	const uint64_t *b = other;

	return (*a > *b) - (*a < *b);
}

static int write_addresses(struct answer *answer, const uint64_t *addresses, size_t nr_addresses)
{
	_cleanup_free_ uint64_t *sorted = calloc(nr_addresses + 1, sizeof(*sorted));
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	if (nr_addresses > 0)
		memcpy(sorted, addresses, nr_addresses * sizeof(*sorted));
	qsort(sorted, nr_addresses, sizeof(*sorted), compare_addresses);
	for (size_t i = 0; i < nr_addresses && r == 0; i++)
		r = write_address(answer, sorted[i]);
	return r;
}

int dwarf_lines_write(struct dwarf_lines *lines, const uint64_t *addresses, size_t nr_addresses,
		      struct strbuf *out)
{
	_cleanup_(answer_done) struct answer answer = {
		.lines = lines,
		.writer = lines_writer_with_max(out->max - out->len),
		.places = calloc(lines->index.nr_units, sizeof(size_t)),
		.out = out,
	};

	int r = answer.places ? write_addresses(&answer, addresses, nr_addresses) : -ENOMEM;
	if (r == -ENOSPC) /* the units before it are the answer */
		r = 0;
	if (r < 0)
		out->error = r;
	return r;
}

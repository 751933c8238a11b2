/* SPDX-License-Identifier: Apache-2.0 */
/* An address leads to its unit by an index that is made when the file is opened (dwarf_index.h); a unit is read
 * when it is first needed (dwarf_unit.h) and kept. When all that is kept has become too much, all of it goes: libdw
 * cannot forget one unit alone. */
#include "symbol/dwarf_lines.h"

#include "symbol/dwarf_file.h"
#include "symbol/dwarf_index.h"
#include "symbol/dwarf_unit.h"
#include "symbol/lines_writer.h"

#include <stdbool.h>

#define MAX_UNIT_BYTES ((size_t)64 << 20) /* kept; more if one unit needs it */

/* DIEs and ranges looked at for one request. A unit that was begun is read on, up to a limit of its own. */
#define MAX_STEPS (UINT64_C(20) << 20)

struct dwarf_lines {
	struct dwarf_file file;
	struct dwarf_index index;
	struct dwarf_unit **units; /* owned, as are its elements; NULL: not read */
	size_t unit_bytes;
};

struct query {
	uint64_t address;
	size_t number; /* in the request */
};

static void forget_units(struct dwarf_lines *lines)
{
	for (size_t i = 0; i < lines->index.nr_units; i++) {
		dwarf_unit_free(lines->units[i]);
		lines->units[i] = NULL;
	}
	lines->unit_bytes = 0;
}

void dwarf_lines_close(struct dwarf_lines *lines)
{
	if (!lines)
		return;
	if (lines->units)
		forget_units(lines);
	free(lines->units);
	dwarf_index_done(&lines->index);
	dwarf_file_close(&lines->file);
	free(lines);
}

static int open_parts(struct dwarf_lines *lines, int fd, int alt_fd)
{
	int r = dwarf_file_open(&lines->file, fd, alt_fd);
	if (r < 0)
		return r;

	r = dwarf_index_init(&lines->index, lines->file.main.dwarf);
	if (r < 0)
		return r;
	lines->units = calloc(lines->index.nr_units, sizeof(struct dwarf_unit *));
	return lines->units ? 0 : -ENOMEM;
}

int dwarf_lines_open(int fd, int alt_fd, struct dwarf_lines **ret_lines)
{
	_cleanup_(dwarf_lines_closep) struct dwarf_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;

	int r = open_parts(lines, fd, alt_fd);
	if (r < 0)
		return r;
	*ret_lines = take_ptr(lines);
	return 0;
}

static int load_unit(struct dwarf_lines *lines, uint32_t number, uint64_t *steps)
{
	if (lines->unit_bytes > MAX_UNIT_BYTES) {
		forget_units(lines);
		int r = dwarf_file_forget(&lines->file);
		if (r < 0)
			return r;
	}

	int r = dwarf_unit_load(lines->file.main.dwarf, lines->index.units[number].offset, steps,
				&lines->units[number]);
	if (r < 0)
		return r;
	lines->unit_bytes += dwarf_unit_bytes(lines->units[number]);
	return 0;
}

static int resolve(struct dwarf_lines *lines, uint64_t address, uint64_t *steps,
		   struct lines_writer *writer)
{
	struct dwarf_index_search search = dwarf_index_lookup(&lines->index, address);

	for (uint32_t number; dwarf_index_next(&search, &number);) {
		if (!lines->units[number]) {
			if (*steps > MAX_STEPS)
				return 0;
			int r = load_unit(lines, number, steps);
			if (r < 0)
				return r;
		}
		if (dwarf_unit_resolve(lines->units[number], address, writer))
			return 0;
	}
	return 0;
}

static int compare_queries(const void *one, const void *other)
{
	const struct query *a = one;
	const struct query *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

/* By address, so that each unit is needed once, however often units are forgotten. */
static int resolve_all(struct dwarf_lines *lines, struct query *queries, size_t nr_queries,
		       struct lines_writer *writer)
{
	uint64_t steps = 0;

	qsort(queries, nr_queries, sizeof(*queries), compare_queries);
	for (size_t i = 0; i < nr_queries; i++) {
		lines_writer_begin(writer, queries[i].number);
		int r = resolve(lines, queries[i].address, &steps, writer);
		if (r < 0)
			return r;
	}
	return 0;
}

int dwarf_lines_resolve(struct dwarf_lines *lines, const uint64_t *addresses, size_t nr_addresses,
			struct strbuf *out)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = { 0 };
	_cleanup_free_ struct query *queries = calloc(nr_addresses + 1, sizeof(*queries));

	if (!queries)
		return -ENOMEM;
	for (size_t i = 0; i < nr_addresses; i++)
		queries[i] = (struct query){ .address = addresses[i], .number = i };

	int r = lines_writer_init(&writer, nr_addresses, out->max - out->len);
	if (r == 0)
		r = resolve_all(lines, queries, nr_addresses, &writer);
	if (r < 0) {
		out->error = r;
		return r;
	}
	return lines_writer_finish(&writer, out);
}

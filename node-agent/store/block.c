/* SPDX-License-Identifier: Apache-2.0 */
/* Five columns, each with its length before it:
 *
 *	labels	  per label set: its distance from the one before, and how many stacks it has
 *	nodes	  per stack: the node's distance from the one before it in the label set
 *	counts	  per stack: in how many seconds it occurs
 *	seconds	  per row: the distance from the second before it in the stack
 *	values	  per row
 *
 * All numbers are varints. Distances are at least 1, since rows are distinct, except for those from
 * the beginning, which is number -1; so each is stored minus 1. */
#include "store/block.h"

#include "base/array.h"
#include "base/pb.h"
#include "base/pb_reader.h"
#include "store/varint.h"

#include <stdlib.h>

enum { LABELS, NODES, COUNTS, SECONDS, VALUES, NR_COLUMNS };

#define COLUMN_MAX_BYTES ((size_t)256 << 20)

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *a, const void *b)
{
	const struct block_row *one = a, *other = b;
	int order = compare_numbers(one->labels, other->labels);

	if (order == 0)
		order = compare_numbers(one->node, other->node);
	return order ? order : compare_numbers(one->second, other->second);
}

size_t block_sort(struct block_row *rows, size_t nr)
{
	size_t nr_kept = 0;

	if (nr > 1)
		qsort(rows, nr, sizeof(*rows), compare);
	for (size_t i = 0; i < nr; i++) {
		if (nr_kept > 0 && compare(&rows[nr_kept - 1], &rows[i]) == 0)
			rows[nr_kept - 1].value += rows[i].value;
		else
			rows[nr_kept++] = rows[i];
	}
	return nr_kept;
}

/* Returns the index behind the rows of the first one's label set, and stack if `of_stack`. */
static size_t end_of_run(const struct block_row *rows, size_t first, size_t nr, bool of_stack)
{
	size_t i = first;

	while (i < nr && rows[i].labels == rows[first].labels &&
	       (!of_stack || rows[i].node == rows[first].node))
		i++;
	return i;
}

static void encode_stack(const struct block_row *rows, size_t nr, struct strbuf *columns)
{
	uint32_t next = 0;

	pb_varint(&columns[COUNTS], nr);
	for (size_t i = 0; i < nr; i++) {
		pb_varint(&columns[SECONDS], rows[i].second - next);
		pb_varint(&columns[VALUES], rows[i].value);
		next = rows[i].second + 1;
	}
}

/* Returns the number of stacks. */
static size_t encode_label_set(const struct block_row *rows, size_t nr, struct strbuf *columns)
{
	size_t nr_stacks = 0, end;
	uint32_t next = 0;

	for (size_t i = 0; i < nr; i = end, nr_stacks++) {
		end = end_of_run(rows, i, nr, true);
		pb_varint(&columns[NODES], rows[i].node - next);
		encode_stack(rows + i, end - i, columns);
		next = rows[i].node + 1;
	}
	return nr_stacks;
}

static void join_columns(struct strbuf *columns, struct strbuf *out)
{
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		pb_varint(out, columns[i].len);
		strbuf_append(out, strbuf_str(&columns[i]), columns[i].len);
		strbuf_fail(out, strbuf_error(&columns[i]));
		strbuf_done(&columns[i]);
	}
}

void block_encode(const struct block_row *rows, size_t nr, struct strbuf *out)
{
	struct strbuf columns[NR_COLUMNS];
	uint32_t next = 0;
	size_t end;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		columns[i] = strbuf_with_max(COLUMN_MAX_BYTES);
	for (size_t i = 0; i < nr; i = end) {
		end = end_of_run(rows, i, nr, false);
		pb_varint(&columns[LABELS], rows[i].labels - next);
		pb_varint(&columns[LABELS], encode_label_set(rows + i, end - i, columns));
		next = rows[i].labels + 1;
	}
	join_columns(columns, out);
}

/* Decoding. */

struct decoder {
	struct pb_reader columns[NR_COLUMNS];
	uint32_t nr_nodes;
	const struct block_visitor *visitor;
};

/* Reads a number's distance from `next`, the lowest that it can be. */
static int read_next(struct pb_reader *reader, uint64_t next, uint64_t limit, uint32_t *ret_number)
{
	uint64_t distance;

	if (next >= limit || varint_read_long(reader, &distance) < 0 || distance >= limit - next)
		return -EBADMSG;
	*ret_number = (uint32_t)(next + distance);
	return 0;
}

/* Reads the rows of a stack as one. */
static int decode_joined(struct decoder *decoder, struct block_row *row, uint64_t nr,
			 bool is_wanted)
{
	uint64_t value;

	row->value = 0;
	for (uint64_t i = 0; i < nr; i++) {
		if (varint_read_long(&decoder->columns[VALUES], &value) < 0)
			return -EBADMSG;
		row->value += value;
	}
	return is_wanted && nr > 0 ? decoder->visitor->visit(row, decoder->visitor->data) : 0;
}

static int decode_stack(struct decoder *decoder, struct block_row *row, bool is_wanted)
{
	uint64_t nr, next = 0;

	if (varint_read_long(&decoder->columns[COUNTS], &nr) < 0)
		return -EBADMSG;
	if (decoder->visitor->joins_seconds)
		return decode_joined(decoder, row, nr, is_wanted);
	for (; nr > 0; nr--) {
		if (read_next(&decoder->columns[SECONDS], next, UINT32_MAX, &row->second) < 0 ||
		    varint_read_long(&decoder->columns[VALUES], &row->value) < 0)
			return -EBADMSG;
		next = (uint64_t)row->second + 1;
		int r = is_wanted ? decoder->visitor->visit(row, decoder->visitor->data) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

static int decode_label_set(struct decoder *decoder, struct block_row *row)
{
	uint64_t nr_stacks, next = 0;

	if (varint_read_long(&decoder->columns[LABELS], &nr_stacks) < 0)
		return -EBADMSG;
	bool is_wanted = decoder->visitor->wants(row->labels, decoder->visitor->data);
	for (; nr_stacks > 0; nr_stacks--) {
		if (read_next(&decoder->columns[NODES], next, decoder->nr_nodes, &row->node) < 0)
			return -EBADMSG;
		next = (uint64_t)row->node + 1;
		int r = decode_stack(decoder, row, is_wanted);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_columns(struct pb_reader *reader, struct pb_reader *columns)
{
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		uint64_t len;

		if (varint_read_long(reader, &len) < 0 || len > (size_t)(reader->end - reader->at))
			return -EBADMSG;
		columns[i] = pb_reader_of(reader->at, len);
		reader->at += len;
	}
	return reader->at == reader->end ? 0 : -EBADMSG;
}

int block_decode(const void *bytes, size_t len, uint32_t nr_labels, uint32_t nr_nodes,
		 const struct block_visitor *visitor)
{
	struct pb_reader reader = pb_reader_of(bytes, len);
	struct decoder decoder = { .nr_nodes = nr_nodes, .visitor = visitor };
	struct block_row row = { 0 };
	uint64_t next = 0;

	if (find_columns(&reader, decoder.columns) < 0)
		return -EBADMSG;
	if (visitor->joins_seconds)
		decoder.columns[SECONDS].at = decoder.columns[SECONDS].end;
	while (decoder.columns[LABELS].at != decoder.columns[LABELS].end) {
		if (read_next(&decoder.columns[LABELS], next, nr_labels, &row.labels) < 0)
			return -EBADMSG;
		next = (uint64_t)row.labels + 1;
		int r = decode_label_set(&decoder, &row);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (decoder.columns[i].at != decoder.columns[i].end)
			return -EBADMSG;
	return 0;
}

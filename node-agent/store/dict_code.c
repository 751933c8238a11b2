/* SPDX-License-Identifier: Apache-2.0 */
/* Table after table, each column by column: the values of a column resemble each other. Words are
 * written such that those that come often are small:
 *
 *	FRESH	rows are numbered as they are first referred to, so that most references are to the
 *		row behind the highest one that the table referred to up to there
 *	STEP	the difference from the row before
 *
 * Nodes have a form of their own. The nodes of a part are in the order of a walk through the tree.
 * So the parent of a node is the node before it or an ancestor of that one, and is written as the
 * number of steps up. A frame is written as its place among the frames that the parent's frame
 * called last (successors.h). */
#include "store/dict_code.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/pb.h"
#include "profile/profile.h"
#include "profile/wait_reason.h"
#include "store/varint.h"

#include <string.h>

#define ROW_MAX_WORDS 65536
#define PART_MAX_BYTES ((size_t)256 << 20)
#define MAX_COLUMNS 9
#define MAX_STEPS 255

enum code { PLAIN, STEP, REFERENCE, FRESH, KIND, REASON };

/* In rows of different length, the last column is that of all further words. */
static const struct {
	unsigned int nr_columns;
	enum code codes[MAX_COLUMNS];
} schema[DICT_NR_TABLES] = {
	[DICT_MAPPINGS] = { MAPPING_WORDS, { FRESH, FRESH, FRESH, FRESH } },
	[DICT_FUNCTIONS] = { FUNCTION_WORDS, { FRESH, FRESH, FRESH, PLAIN } },
	[DICT_FRAMES] = { FRAME_FIRST_FUNCTION + 1, { KIND, REFERENCE, FRESH } },
	[DICT_RESOURCES] = { 1, { REFERENCE } },
	[DICT_PROCESSES] = { PROCESS_WORDS, { STEP, STEP, STEP, REFERENCE, REFERENCE } },
	[DICT_LABELS] = { LABELS_WORDS,
			  { REFERENCE, FRESH, REFERENCE, REFERENCE, STEP, PLAIN, PLAIN, PLAIN,
			    REASON } },
};

/* Columns of nodes. */
enum { STEPS, PARENTS, PLACES, FRAMES, NR_NODE_COLUMNS };

/* Behind the places of successors. */
enum { PLACE_NEXT_FRAME = SUCCESSORS_KEPT, PLACE_OTHER_FRAME };

/* What the words of a table are compared with. */
struct context {
	uint32_t tops[DICT_NR_TABLES]; /* highest number that was referred to */
	uint32_t before[MAX_COLUMNS]; /* words of the row before */
};

static struct context begin_table(const struct dict_mark *since)
{
	struct context context = { 0 };

	for (size_t i = 0; i < DICT_NR_TABLES; i++)
		context.tops[i] = since->nr[i] ? (uint32_t)since->nr[i] - 1 : 0;
	return context;
}

static unsigned int column_of(enum dict_table table, size_t index)
{
	unsigned int last = schema[table].nr_columns - 1;

	return index < last ? (unsigned int)index : last;
}

/* Encoding. */

static uint32_t encode_fresh(uint32_t *top, uint32_t word)
{
	uint32_t code = 0;

	if (word > *top) {
		code = 2 * (word - *top) - 1;
		*top = word;
	} else if (word > 0) {
		code = 2 * (*top - word) + 2;
	}
	return code;
}

static uint32_t encode_word(struct context *context, enum dict_table table, size_t index,
			    uint32_t word)
{
	unsigned int column = column_of(table, index);

	switch (schema[table].codes[column]) {
	case FRESH:
		return encode_fresh(&context->tops[dict_target(table, index)], word);
	case STEP: {
		uint32_t step = varint_fold(word - context->before[column]);

		context->before[column] = word;
		return step;
	}
	default:
		return word;
	}
}

static void init_columns(struct strbuf *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		columns[i] = strbuf_with_max(PART_MAX_BYTES);
}

static void join_columns(struct strbuf *columns, size_t nr, struct strbuf *out)
{
	for (size_t i = 0; i < nr; i++) {
		strbuf_append(out, strbuf_str(&columns[i]), columns[i].len);
		strbuf_fail(out, strbuf_error(&columns[i]));
		strbuf_done(&columns[i]);
	}
}

static void encode_rows(const struct dict *dict, enum dict_table id, const struct dict_mark *since,
			struct strbuf *out)
{
	const struct word_table *table = &dict->tables[id];
	struct context context = begin_table(since);
	struct strbuf columns[MAX_COLUMNS];

	init_columns(columns, MAX_COLUMNS);
	for (size_t row = since->nr[id]; row < table->nr_rows; row++) {
		struct word_row words = word_table_get(table, (uint32_t)row);

		if (!table->width)
			pb_varint(out, words.nr);
		for (size_t i = 0; i < words.nr; i++)
			pb_varint(&columns[column_of(id, i)],
				  encode_word(&context, id, i, words.words[i]));
	}
	join_columns(columns, MAX_COLUMNS, out);
}

static void encode_strings(const struct word_table *table, size_t first, struct strbuf *out)
{
	for (size_t row = first; row < table->nr_rows; row++) {
		const char *text = (const char *)word_table_get(table, (uint32_t)row).words;

		strbuf_append(out, text, strlen(text) + 1);
	}
}

static uint32_t parent_of(const uint32_t *nodes, uint32_t node)
{
	return nodes[(size_t)node * NODE_WORDS + NODE_PARENT];
}

static uint32_t frame_of(const uint32_t *nodes, uint32_t node)
{
	return nodes[(size_t)node * NODE_WORDS + NODE_FRAME];
}

/* Returns how many steps lead from the node before to the parent, counted from 1 on; 0: none do. */
static uint32_t count_steps(const uint32_t *nodes, uint32_t node)
{
	uint32_t parent = parent_of(nodes, node), at = node - 1;

	for (uint32_t steps = 1; steps <= MAX_STEPS; steps++) {
		if (at == parent)
			return steps;
		if (at < parent)
			return 0;
		at = parent_of(nodes, at);
	}
	return 0;
}

/* What the nodes of a part are compared with. */
struct walk {
	struct successors *successors; /* borrowed */
	uint32_t top_frame; /* the highest frame up to here */
	uint32_t parent; /* the last one that no steps led to */
};

static struct walk begin_walk(struct successors *successors, const struct dict_mark *since)
{
	return (struct walk){ successors, begin_table(since).tops[DICT_FRAMES], 0 };
}

/* Notes the calls of all nodes before one. */
static int note_nodes(struct successors *successors, const struct dict *dict, size_t end)
{
	const uint32_t *nodes = dict->tables[DICT_NODES].words;

	if (successors->nr_nodes > end)
		successors_clear(successors);
	int r = successors_reserve(successors, dict->tables[DICT_FRAMES].nr_rows);
	for (size_t i = max_u64(successors->nr_nodes, 1); r == 0 && i < end; i++)
		(void)successors_note(successors, frame_of(nodes, parent_of(nodes, (uint32_t)i)),
				      frame_of(nodes, (uint32_t)i));
	if (r == 0)
		successors->nr_nodes = end;
	return r;
}

static void encode_node(struct walk *walk, const uint32_t *nodes, uint32_t node,
			struct strbuf *columns)
{
	uint32_t parent = parent_of(nodes, node), frame = frame_of(nodes, node);
	uint32_t steps = count_steps(nodes, node);
	unsigned int place = successors_note(walk->successors, frame_of(nodes, parent), frame);

	pb_varint(&columns[STEPS], steps);
	if (steps == 0) {
		pb_varint(&columns[PARENTS], varint_fold(parent - walk->parent));
		walk->parent = parent;
	}
	if (place == SUCCESSORS_KEPT && frame != walk->top_frame + 1) {
		place = PLACE_OTHER_FRAME;
		pb_varint(&columns[FRAMES], frame);
	}
	pb_varint(&columns[PLACES], place);
	if (frame > walk->top_frame)
		walk->top_frame = frame;
}

static void encode_nodes(const struct dict *dict, const struct dict_mark *since,
			 struct successors *successors, struct strbuf *out)
{
	const struct word_table *table = &dict->tables[DICT_NODES];
	struct walk walk = begin_walk(successors, since);
	struct strbuf columns[NR_NODE_COLUMNS];

	init_columns(columns, NR_NODE_COLUMNS);
	for (size_t i = since->nr[DICT_NODES]; i < table->nr_rows; i++)
		encode_node(&walk, table->words, (uint32_t)i, columns);
	successors->nr_nodes = table->nr_rows;
	join_columns(columns, NR_NODE_COLUMNS, out);
}

static void encode_tables(const struct dict *dict, const struct dict_mark *since,
			  struct successors *successors, struct strbuf *out)
{
	for (size_t i = 0; i < DICT_NR_TABLES; i++) {
		pb_varint(out, dict->tables[i].nr_rows - since->nr[i]);
		if (i == DICT_STRINGS)
			encode_strings(&dict->tables[i], since->nr[i], out);
		else if (i == DICT_NODES)
			encode_nodes(dict, since, successors, out);
		else
			encode_rows(dict, i, since, out);
	}
}

void dict_encode(struct dict *dict, const struct dict_mark *since, bool is_head, struct strbuf *out)
{
	_cleanup_(successors_done) struct successors fresh = { 0 };
	struct successors *successors = is_head ? &fresh : &dict->successors;
	int r = is_head ? successors_reserve(&fresh, dict->tables[DICT_FRAMES].nr_rows)
			: note_nodes(&dict->successors, dict, since->nr[DICT_NODES]);

	if (r < 0)
		strbuf_fail(out, r);
	else
		encode_tables(dict, since, successors, out);
}

/* Decoding. */

static int decode_fresh(uint32_t *top, uint32_t code, uint32_t *ret_word)
{
	uint32_t half = (code - 1) / 2;

	if (code == 0) {
		*ret_word = 0;
	} else if (code % 2 == 1) {
		*top += half + 1; /* may wrap around: any row that exists will do */
		*ret_word = *top;
	} else if (half <= *top) {
		*ret_word = *top - half;
	} else {
		return -EBADMSG;
	}
	return 0;
}

/* How the words of a column are decoded. */
struct column {
	enum code code;
	enum dict_table target; /* that they refer to, or DICT_NR_TABLES */
	size_t nr_targets; /* rows of it */
};

static void find_columns(const struct dict *dict, enum dict_table id, struct column *columns)
{
	for (size_t i = 0; i < schema[id].nr_columns; i++) {
		enum dict_table target = dict_target(id, i);

		columns[i] = (struct column){ schema[id].codes[i], target, 0 };
		if (target != DICT_NR_TABLES)
			columns[i].nr_targets = dict->tables[target].nr_rows;
	}
}

/* Turns the code of a word into the word. */
static int decode_word(const struct column *column, struct context *context, uint32_t *before,
		       uint32_t *word)
{
	switch (column->code) {
	case PLAIN:
		return 0;
	case KIND:
		return *word <= FRAME_JIT ? 0 : -EBADMSG;
	case REASON:
		return *word < REASON_NR ? 0 : -EBADMSG;
	case STEP:
		*word = *before += varint_unfold(*word);
		return 0;
	case FRESH:
		if (decode_fresh(&context->tops[column->target], *word, word) < 0)
			return -EBADMSG;
		break;
	case REFERENCE:
		break;
	}
	return *word < column->nr_targets ? 0 : -EBADMSG;
}

/* Fills in the column that parts of a form do not have, and returns whether it is that one. */
static bool lacks_column(struct word_table *table, enum dict_table id, enum dict_form form,
			 size_t first, size_t column)
{
	if (form == DICT_FORM_PRESENT || id != DICT_LABELS || column != LABELS_REASON)
		return false;
	for (size_t row = first; row < table->nr_rows; row++)
		table->words[row * LABELS_WORDS + LABELS_REASON] = REASON_NONE;
	return true;
}

/* Reads the codes of all rows, column by column. The last column has all further words. */
static int read_columns(struct word_table *table, enum dict_table id, enum dict_form form,
			size_t first, struct pb_reader *from)
{
	struct pb_reader reader = *from;
	int r = 0;

	for (size_t c = 0; c < schema[id].nr_columns; c++) {
		bool is_last = c + 1 == schema[id].nr_columns;

		if (lacks_column(table, id, form, first, c))
			continue;
		for (size_t row = first; r == 0 && row < table->nr_rows; row++) {
			size_t nr, start = word_table_find(table, row, &nr);
			size_t end = is_last ? nr : c + 1;

			for (size_t i = c; r == 0 && i < end; i++)
				r = varint_read(&reader, &table->words[start + i]);
		}
	}
	*from = reader;
	return r;
}

static int resolve_rows(struct dict *dict, enum dict_table id, const struct dict_mark *since)
{
	struct word_table *table = &dict->tables[id];
	struct context context = begin_table(since);
	struct column columns[MAX_COLUMNS];
	int r = 0;

	find_columns(dict, id, columns);
	for (size_t row = since->nr[id]; r == 0 && row < table->nr_rows; row++) {
		size_t nr, start = word_table_find(table, row, &nr);

		for (size_t i = 0; r == 0 && i < nr; i++) {
			unsigned int c = column_of(id, i);

			r = decode_word(&columns[c], &context, &context.before[c],
					&table->words[start + i]);
		}
	}
	return r;
}

/* Frames have a function at least, and a resource's words are pairs. */
static bool is_length_valid(enum dict_table id, uint32_t nr)
{
	if (id == DICT_FRAMES)
		return nr > FRAME_FIRST_FUNCTION && nr <= ROW_MAX_WORDS;
	return nr % 2 == 0 && nr <= ROW_MAX_WORDS;
}

static int add_lists(struct word_table *table, enum dict_table id, size_t nr,
		     struct pb_reader *reader)
{
	size_t left = (size_t)(reader->end - reader->at);

	for (size_t i = 0; i < nr; i++) {
		uint32_t len;

		if (varint_read(reader, &len) < 0 || !is_length_valid(id, len) || len > left)
			return -EBADMSG;
		left -= len;
		if (!word_table_append(table, len))
			return -ENOMEM;
	}
	return 0;
}

/* Each word takes a byte at least, which limits the memory; one may be lacking. */
static int add_rows(struct word_table *table, size_t nr, const struct pb_reader *reader)
{
	if (nr > (size_t)(reader->end - reader->at) / (table->width - 1))
		return -EBADMSG;
	return word_table_extend(table, nr) ? 0 : -ENOMEM;
}

static int decode_rows(struct dict *dict, enum dict_table id, enum dict_form form, size_t nr,
		       const struct dict_mark *since, struct pb_reader *reader)
{
	struct word_table *table = &dict->tables[id];
	int r = table->width ? add_rows(table, nr, reader) : add_lists(table, id, nr, reader);

	if (r == 0)
		r = read_columns(table, id, form, since->nr[id], reader);
	return r < 0 ? r : resolve_rows(dict, id, since);
}

static int decode_strings(struct word_table *table, size_t nr, struct pb_reader *reader)
{
	for (size_t i = 0; i < nr; i++) {
		size_t left = (size_t)(reader->end - reader->at);
		const unsigned char *end = left ? memchr(reader->at, 0, left) : NULL;
		size_t len = end ? (size_t)(end - reader->at) : DICT_STRING_MAX_BYTES;

		if (len >= DICT_STRING_MAX_BYTES)
			return -EBADMSG;
		size_t words = len / sizeof(uint32_t) + 1;
		uint32_t *copy = word_table_append(table, words);
		if (!copy)
			return -ENOMEM;
		copy[words - 1] = 0;
		memcpy(copy, reader->at, len);
		reader->at += len + 1;
	}
	return 0;
}

/* Reads the steps of all nodes, then the parents of those that have none. */
static int read_parents(uint32_t *nodes, size_t first, size_t nr, struct pb_reader *from)
{
	struct pb_reader reader = *from;
	uint32_t last = 0;
	int r = 0;

	for (size_t i = first; r == 0 && i < first + nr; i++)
		r = varint_read(&reader, &nodes[i * NODE_WORDS + NODE_PARENT]);
	for (size_t i = first; r == 0 && i < first + nr; i++) {
		uint32_t *parent = &nodes[i * NODE_WORDS + NODE_PARENT];
		uint32_t steps = *parent, at = (uint32_t)i - 1;

		if (steps > MAX_STEPS)
			return -EBADMSG;
		if (steps == 0) {
			r = varint_read(&reader, &at);
			last = at = last + varint_unfold(at);
		}
		for (; steps > 1; steps--)
			at = parent_of(nodes, at);
		if (at >= i)
			return -EBADMSG;
		*parent = at;
	}
	*from = reader;
	return r;
}

/* Reads a frame that is at no place among the successors. */
static int read_new_frame(struct walk *walk, uint32_t caller, unsigned int place,
			  struct pb_reader *reader, uint32_t *ret_frame)
{
	uint32_t frame = walk->top_frame + 1;

	if (place == PLACE_OTHER_FRAME && varint_read(reader, &frame) < 0)
		return -EBADMSG;
	if (place > PLACE_OTHER_FRAME || frame >= walk->successors->nr)
		return -EBADMSG;
	successors_push(walk->successors, caller, frame);
	if (frame > walk->top_frame)
		walk->top_frame = frame;
	*ret_frame = frame;
	return 0;
}

/* Places have a byte each. The numbers of the frames that have none are behind all of them. */
static int read_frames(struct walk *walk, uint32_t *nodes, size_t first, size_t nr,
		       struct pb_reader *reader)
{
	const unsigned char *places = reader->at;
	int r = 0;

	if (nr > (size_t)(reader->end - reader->at))
		return -EBADMSG;
	reader->at += nr;
	for (size_t i = first; r == 0 && i < first + nr; i++) {
		uint32_t *frame = &nodes[i * NODE_WORDS + NODE_FRAME];
		uint32_t caller = frame_of(nodes, parent_of(nodes, (uint32_t)i));
		unsigned int place = places[i - first];

		if (place < SUCCESSORS_KEPT)
			*frame = successors_take(walk->successors, caller, place);
		else
			r = read_new_frame(walk, caller, place, reader, frame);
	}
	return r;
}

static int decode_nodes(struct dict *dict, size_t nr, const struct dict_mark *since,
			struct successors *successors, struct pb_reader *reader)
{
	struct word_table *table = &dict->tables[DICT_NODES];
	struct walk walk = begin_walk(successors, since);
	size_t first = table->nr_rows;

	int r = add_rows(table, nr, reader);
	if (r == 0)
		r = successors_reserve(successors, dict->tables[DICT_FRAMES].nr_rows);
	if (r == 0)
		r = read_parents(table->words, first, nr, reader);
	if (r == 0)
		r = read_frames(&walk, table->words, first, nr, reader);
	successors->nr_nodes = table->nr_rows;
	return r;
}

static int decode_tables(struct dict *dict, enum dict_form form, const struct dict_mark *since,
			 struct successors *successors, struct pb_reader *reader)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < DICT_NR_TABLES; i++) {
		uint32_t nr;

		/* Each row takes a byte at least. */
		if (varint_read(reader, &nr) < 0 || nr > (size_t)(reader->end - reader->at))
			return -EBADMSG;
		if (i == DICT_STRINGS)
			r = decode_strings(&dict->tables[i], nr, reader);
		else if (i == DICT_NODES)
			r = decode_nodes(dict, nr, since, successors, reader);
		else
			r = decode_rows(dict, i, form, nr, since, reader);
	}
	return r == 0 && reader->at != reader->end ? -EBADMSG : r;
}

int dict_decode(struct dict *dict, enum dict_form form, bool is_head, const void *data, size_t len)
{
	_cleanup_(successors_done) struct successors fresh = { 0 };
	struct pb_reader reader = pb_reader_of(data, len);
	struct dict_mark since = dict_mark(dict);

	int r = decode_tables(dict, form, &since, is_head ? &fresh : &dict->successors, &reader);
	if (r < 0)
		dict_truncate(dict, &since);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_name.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "runtime/cpython/cpython_copies.h"
#include "runtime/cpython/cpython_lines.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_object.h"
#include "runtime/cpython/cpython_text.h"

#include <stdbool.h>
#include <string.h>

#define CHAR_MAX_BYTES 4
#define POINTER_TAG_BITS 7ULL /* of a _PyStackRef */
#define POSITION_BITS RUNTIME_CHECK_SHIFT

/* The fields that are read of a code object. */
struct code {
	__u64 checked[RUNTIME_CHECK_WORDS]; /* what the check is made from */
	uint64_t name;
	uint64_t filename;
	uint64_t table;
	int32_t first_line;
	struct cpython_bytecode bytecode; /* if threads have copies of it, else zeroes */
};

static int take_fields(const struct cpython_object *object, const uint64_t *naming,
		       struct code *ret_code)
{
	uint64_t name = naming[CPYTHON_NAMING_QUALNAME] ? naming[CPYTHON_NAMING_QUALNAME]
							: naming[CPYTHON_NAMING_NAME];
	const struct {
		uint64_t offset;
		void *to;
		size_t len;
	} fields[] = {
		{ naming[CPYTHON_NAMING_CHECK], ret_code->checked, sizeof(ret_code->checked) },
		{ name, &ret_code->name, sizeof(ret_code->name) },
		{ naming[CPYTHON_NAMING_FILENAME], &ret_code->filename,
		  sizeof(ret_code->filename) },
		{ naming[CPYTHON_NAMING_LINETABLE], &ret_code->table, sizeof(ret_code->table) },
		{ naming[CPYTHON_NAMING_FIRSTLINENO], &ret_code->first_line,
		  sizeof(ret_code->first_line) },
	};

	for (size_t i = 0; i < array_len(fields); i++)
		if (cpython_object_field(object, fields[i].offset, fields[i].to, fields[i].len) < 0)
			return -ENOENT;
	return 0;
}

static int take_bytecode(const struct cpython_object *object, const uint64_t *naming,
			 struct cpython_bytecode *ret_bytecode)
{
	struct cpython_bytecode bytecode = {
		.address = object->address + naming[CPYTHON_NAMING_BYTECODE],
	};

	if (cpython_object_field(object, naming[CPYTHON_NAMING_BYTES_SIZE], &bytecode.nr_units,
				 sizeof(bytecode.nr_units)) < 0 ||
	    cpython_object_field(object, naming[CPYTHON_NAMING_TLBC], &bytecode.copies,
				 sizeof(bytecode.copies)) < 0)
		return -ENOENT;
	*ret_bytecode = bytecode;
	return 0;
}

static int read_code(struct process_memory *memory, const uint64_t *naming, uint64_t address,
		     struct code *ret_code)
{
	struct cpython_object object;
	struct code code = { 0 };

	int r = cpython_object_read(memory, address, naming[CPYTHON_NAMING_CODE_BYTES], &object);
	if (r < 0)
		return r;
	r = take_fields(&object, naming, &code);
	if (r == 0 && naming[CPYTHON_NAMING_TLBC] != 0)
		r = take_bytecode(&object, naming, &code.bytecode);
	if (r == 0)
		*ret_code = code;
	return r;
}

static bool is_equal(const struct code *a, const struct code *b)
{
	return memcmp(a->checked, b->checked, sizeof(a->checked)) == 0 && a->name == b->name &&
	       a->filename == b->filename && a->table == b->table && a->first_line == b->first_line;
}

/* The unwinder sends 0 if it could not read the code object, whose page was not in memory then. */
static bool has_check(const struct code *code, uint64_t tag)
{
	uint16_t check = RUNTIME_TAG_CHECK(tag);

	return check == 0 || check == runtime_check_words(code->checked);
}

/* A position is negative before the first instruction, and may be in a copy of the bytecode. */
static int64_t position_of(uint64_t tag)
{
	return (int64_t)(tag << (64 - POSITION_BITS)) >> (64 - POSITION_BITS);
}

static bool is_in_copy(const struct code *code, int64_t position)
{
	return code->bytecode.copies != 0 &&
	       (position < 0 || (uint64_t)position >= code->bytecode.nr_units);
}

/* Reads the table, and returns the line of the position; 0 if it has none. Errors: -ENOENT the
 * table is no object of bytes, or too long; those of cpython_object_part(). */
static int find_line(struct process_memory *memory, const uint64_t *naming, const struct code *code,
		     int64_t position, uint32_t *ret_line)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(CPYTHON_MAX_TABLE_BYTES);
	struct cpython_line_table table = {
		.format = (enum cpython_lines)naming[CPYTHON_NAMING_LINES],
		.first_line = code->first_line,
	};
	struct cpython_object object;
	uint64_t size;

	int r = cpython_object_read(memory, code->table, CPYTHON_OBJECT_BYTES, &object);
	if (r < 0)
		return r;
	if (cpython_object_field(&object, naming[CPYTHON_NAMING_BYTES_SIZE], &size, sizeof(size)) <
		    0 ||
	    size > CPYTHON_MAX_TABLE_BYTES ||
	    naming[CPYTHON_NAMING_BYTES_DATA] > CPYTHON_OBJECT_BYTES)
		return -ENOENT;
	table.len = size;
	r = cpython_object_part(memory, &object, naming[CPYTHON_NAMING_BYTES_DATA], table.len,
				&scratch, &table.bytes);
	if (r < 0)
		return r;
	*ret_line = cpython_lines_find(&table, (uint64_t)position);
	return 0;
}

/* A part of a frame that cannot be read is left out. */
static int ignore_unreadable(int error)
{
	return error == -ENOENT || error == -EFAULT ? 0 : error;
}

static int read_lines(struct process_memory *memory, const uint64_t *naming,
		      const struct code *code, uint64_t tag, struct runtime_line *ret_line)
{
	int64_t position = position_of(tag);
	uint32_t line = 0;
	int r = 0;

	if (is_in_copy(code, position))
		r = cpython_copies_find(memory, &code->bytecode, position, &position);
	if (r == 0 && position >= 0)
		r = find_line(memory, naming, code, position, &line);
	r = ignore_unreadable(r);
	if (r < 0)
		return r;
	ret_line->start_line = code->first_line > 0 ? (uint32_t)code->first_line : 0;
	ret_line->line = line > 0 ? line : ret_line->start_line;
	return 0;
}

/* Reads the function and the file, one behind the other. One character more than a record may have
 * shows that the text is longer. */
static int read_texts(struct process_memory *memory, const uint64_t *naming,
		      const struct code *code, struct strbuf *texts, struct runtime_line *ret_line)
{
	int r = cpython_text_append(memory, naming, code->name, RUNTIME_NAME_MAX_BYTES + 1, texts);
	if (r < 0)
		return r;
	size_t name_len = texts->len;
	r = ignore_unreadable(cpython_text_append(memory, naming, code->filename,
						  RUNTIME_FILE_MAX_BYTES + 1, texts));
	if (r < 0)
		return r;
	ret_line->name = strbuf_str(texts);
	ret_line->name_len = name_len;
	ret_line->filename = strbuf_str(texts) + name_len;
	ret_line->filename_len = texts->len - name_len;
	return 0;
}

int cpython_name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
		 struct frame_writer *writer)
{
	_cleanup_(strbuf_done) struct strbuf texts = strbuf_with_max(
		(RUNTIME_NAME_MAX_BYTES + RUNTIME_FILE_MAX_BYTES + 2) * CHAR_MAX_BYTES);
	uint64_t address = words[1] & ~POINTER_TAG_BITS;
	struct runtime_line line = { 0 };
	struct code code = { 0 }, again = { 0 };

	int r = read_code(memory, naming, address, &code);
	if (r < 0)
		return r;
	if (!has_check(&code, words[0]))
		return 0;
	r = read_texts(memory, naming, &code, &texts, &line);
	if (r < 0)
		return r;
	r = read_lines(memory, naming, &code, words[0], &line);
	if (r < 0)
		return r;
	r = read_code(memory, naming, address, &again);
	if (r < 0)
		return r;
	if (is_equal(&code, &again))
		frame_writer_add(writer, &line);
	return 0;
}

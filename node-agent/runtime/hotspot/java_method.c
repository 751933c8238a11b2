/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/java_method.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/strbuf.h"
#include "runtime/hotspot/hotspot_naming.h"
#include "runtime/hotspot/line_table.h"

#include <string.h>

#define HAS_LINE_TABLE 1 /* ConstMethod::_has_linenumber_table */
#define MAX_LINE_TABLE_BYTES (256 << 10)

/* The reader of one method. The first error is kept, and what is read after it is 0. */
struct method_reader {
	struct process_memory *memory; /* borrowed */
	const uint64_t *naming; /* borrowed */
	int error;
};

static void read_bytes(struct method_reader *reader, uint64_t address, void *to, size_t len)
{
	if (reader->error == 0)
		reader->error = process_memory_read(reader->memory, address, to, len);
	if (reader->error < 0)
		memset(to, 0, len);
}

/* Reads the field of an object at an address. */
static uint64_t read_u64(struct method_reader *reader, uint64_t address, enum hotspot_naming field)
{
	uint64_t number = 0;

	read_bytes(reader, address + reader->naming[field], &number, sizeof(number));
	return number;
}

static uint32_t read_u32(struct method_reader *reader, uint64_t address, enum hotspot_naming field)
{
	uint32_t number = 0;

	read_bytes(reader, address + reader->naming[field], &number, sizeof(number));
	return number;
}

static uint16_t read_u16(struct method_reader *reader, uint64_t address, enum hotspot_naming field)
{
	uint16_t number = 0;

	read_bytes(reader, address + reader->naming[field], &number, sizeof(number));
	return number;
}

static void fail(struct method_reader *reader, int error)
{
	if (reader->error == 0)
		reader->error = error;
}

/* Appends a Symbol's text. */
static void append_symbol(struct method_reader *reader, uint64_t symbol, struct strbuf *text)
{
	uint16_t len = read_u16(reader, symbol, HOTSPOT_NAMING_SYMBOL_LENGTH);
	char bytes[RUNTIME_FILE_MAX_BYTES];

	if (len == 0 || symbol == 0)
		fail(reader, -EBADMSG);
	len = (uint16_t)min_u64(len, sizeof(bytes));
	read_bytes(reader, symbol + reader->naming[HOTSPOT_NAMING_SYMBOL_BODY], bytes, len);
	if (reader->error == 0)
		strbuf_append(text, bytes, len);
}

/* Appends the symbol at an index of a constant pool. */
static void append_constant(struct method_reader *reader, uint64_t pool, uint32_t index,
			    struct strbuf *text)
{
	uint32_t nr_constants = read_u32(reader, pool, HOTSPOT_NAMING_POOL_LENGTH);
	uint64_t symbol = 0;

	if (index == 0 || index >= nr_constants) {
		fail(reader, -EBADMSG);
		return;
	}
	read_bytes(reader, pool + reader->naming[HOTSPOT_NAMING_POOL_BYTES] + 8ULL * index, &symbol,
		   sizeof(symbol));
	append_symbol(reader, symbol, text);
}

static size_t count_hex_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Hidden classes have an address behind their name, which says nothing and differs from process
 * to process: "+0x00007f…", "/0x00007f…". Packages are separated by dots. */
static void tidy_class_name(struct strbuf *text)
{
	for (size_t i = 0; i + 3 < text->len; i++) {
		const char *end = text->data + i;

		if ((*end == '+' || *end == '/') && end[1] == '0' && end[2] == 'x' &&
		    i + 3 + count_hex_digits(end + 3) == text->len)
			strbuf_truncate(text, i);
	}
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] == '/')
			text->data[i] = '.';
}

/* Appends the line table to `table`; none if the method has no such table. */
static void read_line_table(struct method_reader *reader, uint64_t const_method, uint16_t code_size,
			    struct strbuf *table)
{
	uint64_t start = reader->naming[HOTSPOT_NAMING_CONST_BYTES] + code_size;
	uint64_t end = 8ULL * read_u32(reader, const_method, HOTSPOT_NAMING_CONST_SIZE);
	char *bytes;

	if (reader->naming[HOTSPOT_NAMING_CONST_FLAGS] == HOTSPOT_NAMING_NONE ||
	    !(read_u16(reader, const_method, HOTSPOT_NAMING_CONST_FLAGS) & HAS_LINE_TABLE))
		return;
	if (end <= start || end - start > MAX_LINE_TABLE_BYTES) {
		fail(reader, -EBADMSG);
		return;
	}
	bytes = strbuf_extend(table, end - start);
	if (bytes)
		read_bytes(reader, const_method + start, bytes, end - start);
}

/* Returns 0 if the line is not known. */
static uint32_t find_line(const struct line_table *table, int32_t bci)
{
	uint32_t line = 0;

	return line_table_find(table, bci < 0 ? 0 : bci, &line) < 0 ? 0 : line;
}

static void set_lines(struct method_reader *reader, uint64_t const_method,
		      const struct java_place *place, struct runtime_line *line)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_LINE_TABLE_BYTES);
	uint16_t code_size = read_u16(reader, const_method, HOTSPOT_NAMING_CONST_CODE_SIZE);
	struct line_table table;

	if (place->bci > 0 && place->bci >= code_size)
		fail(reader, -EBADMSG);
	read_line_table(reader, const_method, code_size, &bytes);
	if (reader->error < 0 || strbuf_error(&bytes) < 0)
		return;
	table = (struct line_table){
		.bytes = (const uint8_t *)bytes.data,
		.len = bytes.len,
		.nr_excluded = (uint8_t)reader->naming[HOTSPOT_NAMING_NR_EXCLUDED]
	};
	line->start_line = find_line(&table, 0);
	line->line = place->bci == JAVA_BCI_NONE ? 0 : find_line(&table, place->bci);
}

/* Appends the name of the source file, if there is one. The pool of a method handle's intrinsic
 * leaves the index undefined. */
static void append_source_file(struct method_reader *reader, uint64_t pool, uint64_t klass,
			       struct strbuf *text)
{
	uint16_t index = 0;

	if (reader->naming[HOTSPOT_NAMING_POOL_SOURCE_FILE] != HOTSPOT_NAMING_NONE)
		index = read_u16(reader, pool, HOTSPOT_NAMING_POOL_SOURCE_FILE);
	else if (reader->naming[HOTSPOT_NAMING_KLASS_SOURCE_FILE] != HOTSPOT_NAMING_NONE)
		index = read_u16(reader, klass, HOTSPOT_NAMING_KLASS_SOURCE_FILE);
	if (index != 0 && index < read_u32(reader, pool, HOTSPOT_NAMING_POOL_LENGTH))
		append_constant(reader, pool, index, text);
}

int java_method_add(struct process_memory *memory, const uint64_t *naming,
		    const struct java_place *place, struct frame_writer *writer)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(4 * RUNTIME_FILE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(2 * RUNTIME_FILE_MAX_BYTES);
	struct method_reader reader = { .memory = memory, .naming = naming };
	uint64_t const_method = read_u64(&reader, place->method, HOTSPOT_NAMING_METHOD_CONST);
	uint64_t pool = read_u64(&reader, const_method, HOTSPOT_NAMING_CONST_CONSTANTS);
	uint64_t klass = read_u64(&reader, pool, HOTSPOT_NAMING_POOL_HOLDER);
	struct runtime_line line = { 0 };

	if (place->const_method != 0 && place->const_method != const_method)
		return -EBADMSG;
	append_symbol(&reader, read_u64(&reader, klass, HOTSPOT_NAMING_KLASS_NAME), &name);
	tidy_class_name(&name);
	append_source_file(&reader, pool, klass, &file);
	if (file.len == 0)
		strbuf_append(&file, strbuf_str(&name), name.len);
	strbuf_append_char(&name, '.');
	append_constant(&reader, pool,
			read_u16(&reader, const_method, HOTSPOT_NAMING_CONST_NAME_INDEX), &name);
	set_lines(&reader, const_method, place, &line);
	strbuf_fail(&name, strbuf_error(&file));
	strbuf_fail(&name, reader.error);
	if (strbuf_error(&name) < 0)
		return strbuf_error(&name);
	line.name = name.data;
	line.name_len = name.len;
	line.filename = file.data;
	line.filename_len = file.len;
	frame_writer_add(writer, &line);
	return 0;
}

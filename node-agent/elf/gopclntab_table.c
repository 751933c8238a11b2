/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/gopclntab_table.h"

#include "elf/arch.h"

#include <string.h>

#define HEADER_BYTES 8 /* magic, two zeros, quantum, size of pointers */
#define POINTER_BYTES 8

/* Magic numbers, by the first version of Go that wrote them. */
enum {
	MAGIC_1_2 = 0xfffffffb,
	MAGIC_1_16 = 0xfffffffa,
	MAGIC_1_18 = 0xfffffff0,
	MAGIC_1_20 = 0xfffffff1,
};

/* Differences between the formats. The words of the header are counted from behind its first 8
 * bytes. */
struct format {
	uint32_t magic;
	bool has_offsets; /* starts count from the text address and take 4 bytes, not 8 */
	uint8_t names_word; /* 0: all parts count from the beginning of the table */
	uint8_t pctab_word;
	uint8_t records_word;
	uint8_t flag_offset; /* in a record, behind the start */
};

static const struct format formats[] = {
	{ .magic = MAGIC_1_2 },
	{ MAGIC_1_16, false, 2, 5, 6, 33 },
	{ MAGIC_1_18, true, 3, 6, 7, 33 },
	{ MAGIC_1_20, true, 3, 6, 7, 37 },
};

/* Offsets behind the start in a record: name, size of arguments, deferreturn, pcsp. */
#define RECORD_NAME 0
#define RECORD_PCSP 12

static bool read_bytes(const struct gopclntab_table *table, uint64_t offset, void *to, size_t len)
{
	if (offset > table->len || table->len - offset < len)
		return false;
	memcpy(to, table->data + offset, len);
	return true;
}

static bool read_word(const struct gopclntab_table *table, size_t index, uint64_t *ret_value)
{
	return read_bytes(table, HEADER_BYTES + index * POINTER_BYTES, ret_value,
			  sizeof(*ret_value));
}

/* Reads the offset of a part of the table. */
static bool read_part(const struct gopclntab_table *table, size_t index, size_t *ret_offset)
{
	uint64_t offset;

	if (!read_word(table, index, &offset) || offset >= table->len)
		return false;
	*ret_offset = (size_t)offset;
	return true;
}

static const struct format *find_format(const uint8_t *data, size_t len)
{
	static const uint8_t rest[] = { 0, 0, ARCH_GO_PC_QUANTUM, POINTER_BYTES };
	uint32_t magic;

	if (len < HEADER_BYTES || memcmp(data + sizeof(magic), rest, sizeof(rest)) != 0)
		return NULL;
	memcpy(&magic, data, sizeof(magic));
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (formats[i].magic == magic)
			return &formats[i];
	return NULL;
}

static bool find_parts(struct gopclntab_table *table, const struct format *format)
{
	if (format->names_word == 0) {
		table->functab_offset = HEADER_BYTES + POINTER_BYTES;
		return true;
	}
	if (!read_part(table, format->names_word, &table->names_offset) ||
	    !read_part(table, format->pctab_word, &table->pctab_offset) ||
	    !read_part(table, format->records_word, &table->records_offset))
		return false;
	table->functab_offset = table->records_offset;
	return true;
}

/* Behind the functions there is one more start: the end of the last one. */
static bool count_functions(struct gopclntab_table *table)
{
	uint64_t nr;

	if (table->functab_offset > table->len || !read_word(table, 0, &nr) || nr == 0)
		return false;
	if (nr >= (table->len - table->functab_offset) / (2 * table->field_bytes))
		return false;
	table->nr_functions = (size_t)nr;
	return true;
}

int gopclntab_table_init(struct gopclntab_table *table, const struct gopclntab_section *section)
{
	const struct format *format = find_format(section->data, section->len);
	struct gopclntab_table fresh = { .data = section->data, .len = section->len };

	if (!format)
		return -EBADMSG;
	fresh.field_bytes = format->has_offsets ? sizeof(uint32_t) : sizeof(uint64_t);
	fresh.text_address = format->has_offsets ? section->text_address : 0;
	if (format->flag_offset > 0)
		fresh.flag_offset = fresh.field_bytes + format->flag_offset;
	if (!find_parts(&fresh, format) || !count_functions(&fresh))
		return -EBADMSG;
	*table = fresh;
	return 0;
}

/* Reads a number of functab. The caller knows that it is within the table. */
static uint64_t functab_number(const struct gopclntab_table *table, size_t index)
{
	const uint8_t *from = table->data + table->functab_offset + index * table->field_bytes;
	uint32_t offset;
	uint64_t address;

	if (table->field_bytes == sizeof(address)) {
		memcpy(&address, from, sizeof(address));
		return address;
	}
	memcpy(&offset, from, sizeof(offset));
	return offset;
}

static const char *find_name(const struct gopclntab_table *table, uint32_t offset)
{
	uint64_t start = (uint64_t)table->names_offset + offset;

	if (start >= table->len)
		return "";

	size_t left = table->len - (size_t)start;
	if (!memchr(table->data + start, '\0', left < GO_MAX_NAME_BYTES ? left : GO_MAX_NAME_BYTES))
		return "";
	return (const char *)table->data + start;
}

int gopclntab_table_get(const struct gopclntab_table *table, size_t index,
			struct gopclntab_function *ret_function)
{
	uint64_t record = functab_number(table, 2 * index + 1);
	struct gopclntab_function function = {
		.start = functab_number(table, 2 * index) + table->text_address,
		.end = functab_number(table, 2 * index + 2) + table->text_address,
	};
	uint64_t fields;
	uint32_t name;

	if (record > table->len || function.start >= function.end)
		return -EBADMSG;
	record += table->records_offset;
	fields = record + table->field_bytes;
	if (!read_bytes(table, fields + RECORD_NAME, &name, sizeof(name)) ||
	    !read_bytes(table, fields + RECORD_PCSP, &function.pcsp, sizeof(function.pcsp)) ||
	    record + table->flag_offset >= table->len)
		return -EBADMSG;
	if (table->flag_offset > 0)
		function.flags = table->data[record + table->flag_offset];
	function.name = find_name(table, name);
	*ret_function = function;
	return 0;
}

void gopclntab_steps_init(struct gopclntab_steps *steps, const struct gopclntab_table *table,
			  const struct gopclntab_function *function)
{
	uint64_t offset = (uint64_t)table->pctab_offset + function->pcsp;

	*steps = (struct gopclntab_steps){
		.pos = table->data + (offset < table->len ? offset : table->len),
		.end = table->data + table->len,
		.address = function->start,
		.value = -1,
	};
}

static bool read_varint(struct gopclntab_steps *steps, uint32_t *ret_value)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; shift < 35 && steps->pos < steps->end; shift += 7) {
		uint8_t byte = *steps->pos++;

		value |= (uint32_t)(byte & 0x7f) << (shift & 31);
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

/* A step has the change of the value, whose sign is in the lowest bit, and the length of the code
 * that has this value, in units of the quantum. A change of 0 ends the table, except in the first
 * step. */
int gopclntab_steps_next(struct gopclntab_steps *steps, uint64_t *ret_address, int32_t *ret_value)
{
	uint32_t change;
	uint32_t nr_units;

	if (!read_varint(steps, &change))
		return -EBADMSG;
	if (change == 0 && steps->is_started)
		return 0;
	if (!read_varint(steps, &nr_units) || nr_units == 0)
		return -EBADMSG;
	change = (change >> 1) ^ -(change & 1);
	steps->value = (int32_t)((uint32_t)steps->value + change);
	steps->is_started = true;
	*ret_address = steps->address;
	*ret_value = steps->value;
	steps->address += (uint64_t)nr_units * ARCH_GO_PC_QUANTUM;
	return 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is in the byte order of the machine that runs the compiler, which must be that of the
 * agent:
 *
 *	header	magic version total_size elf_mach pad pid (4 each) timestamp flags (8 each)
 *	record	id total_size (4 each) timestamp (8), then by id
 *	LOAD	pid tid (4 each) vma code_addr code_size code_index (8 each) name NUL code
 *	MOVE	pid tid (4 each) vma old_code_addr new_code_addr code_size code_index (8 each)
 *	DEBUG	code_addr nr_entry (8 each), then entries: address (8) line column (4 each) file NUL
 *
 * DEBUG comes before the LOAD of its code. It can be longer than a piece, so it is read entry by
 * entry. Of all other records only the first bytes are read, as soon as the whole record is in the
 * file. */
#include "symbol/jit/jitdump.h"

#include "symbol/frame/symbol_frames.h"

#include <string.h>

#define MAGIC UINT32_C(0x4a695444)
#define VERSION 1
#define MACHINE_X86_64 62
#define MACHINE_AARCH64 183
#define MAX_HEADER_BYTES 4096
#define MAX_PADDING_BYTES 8
#define SAME_FILE "\xff" /* instead of a filename: that of the previous entry */

enum record_id {
	CODE_LOAD,
	CODE_MOVE,
	CODE_DEBUG_INFO,
};

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t total_size;
	uint32_t elf_mach;
	uint32_t pad;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

struct record {
	uint32_t id;
	uint32_t total_size;
	uint64_t timestamp;
};

struct load {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

struct move {
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t old_code_addr;
	uint64_t new_code_addr;
	uint64_t code_size;
	uint64_t code_index;
};

struct debug {
	uint64_t code_addr;
	uint64_t nr_entry;
};

struct entry {
	uint64_t address;
	int32_t line;
	int32_t column;
};

/* The rest of a piece of the file. */
struct piece {
	const char *data;
	size_t len;
	uint64_t nr_left; /* bytes of the file from `data` on */
};

/* Copies a NUL-terminated text, truncated to JITDUMP_MAX_NAME_BYTES. Returns its length in the file
 * without the NUL, or -1 if it does not end within `len` bytes. */
static int64_t copy_text(const char *text, size_t len, char ret_copy[JITDUMP_MAX_NAME_BYTES + 1])
{
	size_t text_len = strnlen(text, len);
	size_t copied = text_len < JITDUMP_MAX_NAME_BYTES ? text_len : JITDUMP_MAX_NAME_BYTES;

	if (text_len == len && len <= JITDUMP_MAX_NAME_BYTES)
		return -1;
	memcpy(ret_copy, text, copied);
	ret_copy[copied] = '\0';
	return (int64_t)text_len;
}

static int64_t read_header(struct jitdump_reader *reader, const struct piece *piece)
{
	struct header header;

	if (piece->len < sizeof(header))
		return 0;
	memcpy(&header, piece->data, sizeof(header));
	if (header.magic != MAGIC || header.version != VERSION ||
	    header.total_size < sizeof(header) || header.total_size > MAX_HEADER_BYTES ||
	    (header.elf_mach != MACHINE_X86_64 && header.elf_mach != MACHINE_AARCH64))
		return -EBADMSG;
	if (header.total_size > piece->nr_left)
		return 0;
	reader->has_header = true;
	return header.total_size;
}

/* V8 writes the addresses of lines as they would be in an ELF file with the code, after the ELF
 * header. */
#define V8_LINE_SHIFT 0x40

/* Returns false if the record is malformed. */
static bool read_load(struct jitdump_reader *reader, const char *body, size_t len,
		      struct jit_writer *writer)
{
	char name[JITDUMP_MAX_NAME_BYTES + 1];
	struct load load;

	if (len < sizeof(load) || copy_text(body + sizeof(load), len - sizeof(load), name) < 0)
		return false;
	memcpy(&load, body, sizeof(load));
	if (reader->has_lines && reader->lines_address != load.code_addr)
		jit_writer_drop_lines(writer);
	reader->has_lines = false;
	if (load.code_size == 0)
		return true; /* allowed, but cannot be sampled */

	struct jit_code code = {
		.address = load.code_addr,
		.nr_bytes = load.code_size,
		.name = name,
		.parts = jit_names_split(name, writer->is_java),
		.has_index = true,
		.index = load.code_index,
	};
	code.line_shift = code.parts.language == LANGUAGE_V8JS ? V8_LINE_SHIFT : 0;
	jit_writer_add(writer, &code);
	return true;
}

static bool read_move(const char *body, size_t len, struct jit_writer *writer)
{
	struct move move;

	if (len < sizeof(move))
		return false;
	memcpy(&move, body, sizeof(move));
	jit_writer_move(writer, move.code_index, move.new_code_addr, move.code_size);
	return true;
}

/* Begins to read lines. Drops those of an earlier DEBUG record whose LOAD never came. */
static bool begin_debug(struct jitdump_reader *reader, const char *body, size_t len,
			struct jit_writer *writer)
{
	struct debug debug;

	jit_writer_drop_lines(writer);
	reader->has_lines = false;
	if (len < sizeof(debug))
		return false;
	memcpy(&debug, body, sizeof(debug));
	reader->has_lines = true;
	reader->lines_address = debug.code_addr;
	reader->nr_entries = debug.nr_entry;
	return true;
}

/* Adds a line, unless its address or line number is impossible. */
static void add_entry(const struct jitdump_reader *reader, const struct entry *entry,
		      const char *filename, struct jit_writer *writer)
{
	uint64_t offset = entry->address - reader->lines_address;

	if (entry->address >= reader->lines_address && offset <= JIT_FUNCTION_MAX_BYTES &&
	    entry->line > 0)
		jit_writer_add_line(writer, (uint32_t)offset, (uint32_t)entry->line, filename);
}

/* Reads an entry of the current record. Returns its length, or 0 if the piece does not contain all
 * of it. Errors: -EBADMSG. */
static int64_t read_entry(struct jitdump_reader *reader, const struct piece *piece,
			  struct jit_writer *writer)
{
	char filename[JITDUMP_MAX_NAME_BYTES + 1];
	uint64_t record = reader->nr_record_bytes;
	size_t len = record < piece->len ? (size_t)record : piece->len;
	bool is_last_piece = len == record;
	struct entry entry;

	if (len < sizeof(entry))
		return is_last_piece ? -EBADMSG : 0;
	int64_t name_len = copy_text(piece->data + sizeof(entry), len - sizeof(entry), filename);
	if (name_len < 0)
		return is_last_piece ? -EBADMSG : 0;
	if ((size_t)name_len > JITDUMP_MAX_NAME_BYTES)
		return -EBADMSG;
	memcpy(&entry, piece->data, sizeof(entry));
	bool is_same = strcmp(filename, SAME_FILE) == 0;
	add_entry(reader, &entry, is_same ? NULL : filename, writer);
	return (int64_t)sizeof(entry) + name_len + 1;
}

/* Drops all lines of the current record, because it is malformed. */
static void drop_record_lines(struct jitdump_reader *reader, struct jit_writer *writer)
{
	writer->nr_bad++;
	reader->nr_entries = 0;
	reader->has_lines = false;
	jit_writer_drop_lines(writer);
}

/* Reads the next entry of a DEBUG record, or skips the padding after the last one, up to a multiple
 * of 8 bytes. More padding means that entries were shorter than the compiler assumed: V8 of Node.js
 * 20 writes filenames from memory that it has freed, with NULs in them. */
static int64_t continue_debug(struct jitdump_reader *reader, const struct piece *piece,
			      struct jit_writer *writer)
{
	int64_t n = -EBADMSG;

	if (reader->nr_entries > 0)
		n = read_entry(reader, piece, writer);
	if (n == -EBADMSG) {
		if (reader->nr_entries > 0 || reader->nr_record_bytes >= MAX_PADDING_BYTES)
			drop_record_lines(reader, writer);
		n = (int64_t)reader->nr_record_bytes;
	} else if (n > 0) {
		reader->nr_entries--;
	}
	if (n > 0)
		reader->nr_record_bytes -= (uint64_t)n;
	if (reader->nr_record_bytes == 0 && reader->nr_entries > 0)
		drop_record_lines(reader, writer);
	return n;
}

/* Reads a record; of a DEBUG record, only the part before the first entry. Returns 0 if the piece
 * or the file does not contain enough of it. */
static int64_t read_record(struct jitdump_reader *reader, const struct piece *piece,
			   struct jit_writer *writer)
{
	struct record record;
	bool is_good = true;

	if (piece->len < sizeof(record))
		return 0;
	memcpy(&record, piece->data, sizeof(record));
	if (record.total_size < sizeof(record))
		return -EBADMSG;
	size_t len = record.total_size < piece->len ? record.total_size : piece->len;
	bool needs_more = len < record.total_size && len < JITDUMP_MIN_PIECE_BYTES;
	if (record.total_size > piece->nr_left || needs_more)
		return 0;

	const char *body = piece->data + sizeof(record);
	size_t body_len = len - sizeof(record);
	if (record.id == CODE_LOAD)
		is_good = read_load(reader, body, body_len, writer);
	else if (record.id == CODE_MOVE)
		is_good = read_move(body, body_len, writer);
	else if (record.id == CODE_DEBUG_INFO)
		is_good = begin_debug(reader, body, body_len, writer);
	writer->nr_bad += !is_good;
	if (record.id != CODE_DEBUG_INFO || !reader->has_lines)
		return record.total_size;
	reader->nr_record_bytes = record.total_size - sizeof(record) - sizeof(struct debug);
	if (reader->nr_record_bytes == 0 && reader->nr_entries > 0)
		drop_record_lines(reader, writer);
	return (int64_t)(sizeof(record) + sizeof(struct debug));
}

/* Reads the header, a record or an entry. Returns its length, or 0 if it is incomplete. */
static int64_t step(struct jitdump_reader *reader, const struct piece *piece,
		    struct jit_writer *writer)
{
	if (!reader->has_header)
		return read_header(reader, piece);
	if (reader->nr_record_bytes > 0)
		return continue_debug(reader, piece, writer);
	return read_record(reader, piece, writer);
}

int64_t jitdump_feed(struct jitdump_reader *reader, const char *data, size_t len, uint64_t nr_left,
		     struct jit_writer *writer)
{
	uint64_t done = 0;

	while (done < len && !jit_writer_is_full(writer)) {
		const struct piece piece = { data + done, len - done, nr_left - done };
		int64_t n = step(reader, &piece, writer);

		if (n < 0 && done == 0)
			return n;
		if (n <= 0)
			break;
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

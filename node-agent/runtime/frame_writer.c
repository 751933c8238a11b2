/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/frame_writer.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define CHAR_MAX_BYTES 4
#define ELLIPSIS "\xe2\x80\xa6" /* U+2026 */
#define ELLIPSIS_BYTES (sizeof(ELLIPSIS) - 1)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define REPLACEMENT_BYTES (sizeof(REPLACEMENT) - 1)

struct line_head {
	uint32_t line;
	uint32_t start_line;
	uint32_t name_len;
	uint32_t filename_len;
};

/* A character of a text: how many bytes it takes there, and what is written for it. */
struct piece {
	size_t taken;
	const char *bytes; /* borrowed */
	size_t len;
};

/* C0, DEL and C1. */
static bool is_control(const char *text)
{
	const uint8_t *byte = (const uint8_t *)text;

	return byte[0] < 0x20 || byte[0] == 0x7f || (byte[0] == 0xc2 && byte[1] < 0xa0);
}

/* Returns the first character of a text that is not empty. */
static struct piece piece_at(const char *text, size_t len)
{
	char start[CHAR_MAX_BYTES + 1] = { 0 };

	memcpy(start, text, len < CHAR_MAX_BYTES ? len : CHAR_MAX_BYTES);
	size_t char_len = utf8_char_len(start);
	if (char_len > 0 && !is_control(start))
		return (struct piece){ char_len, text, char_len };
	return (struct piece){ char_len > 0 ? char_len : 1, REPLACEMENT, REPLACEMENT_BYTES };
}

static bool is_plain(const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		struct piece piece = piece_at(text + at, len - at);

		if (piece.bytes != text + at)
			return false;
		at += piece.taken;
	}
	return true;
}

static void append_pieces(struct strbuf *out, const char *text, size_t len, size_t max)
{
	size_t start = out->len;
	size_t written = 0, fits = 0; /* `fits`: the part of it that leaves room for "…" */

	for (size_t at = 0; at < len;) {
		struct piece piece = piece_at(text + at, len - at);

		written += piece.len;
		if (written > max) {
			strbuf_truncate(out, start + fits);
			strbuf_append(out, ELLIPSIS, ELLIPSIS_BYTES);
			return;
		}
		if (written + ELLIPSIS_BYTES <= max)
			fits = written;
		strbuf_append(out, piece.bytes, piece.len);
		at += piece.taken;
	}
}

/* Returns the number of bytes that were appended. */
static uint32_t append_text(struct strbuf *out, const char *text, size_t len, size_t max)
{
	size_t start = out->len;

	if (!text)
		return 0;
	if (len <= max && is_plain(text, len))
		strbuf_append(out, text, len);
	else
		append_pieces(out, text, len, max);
	return (uint32_t)(out->len - start);
}

static void set_nr_lines(struct frame_writer *writer, uint32_t nr_lines)
{
	writer->nr_lines = nr_lines;
	if (strbuf_error(writer->out) == 0)
		memcpy(writer->out->data + writer->head, &nr_lines, sizeof(nr_lines));
}

void frame_writer_begin(struct frame_writer *writer)
{
	const uint32_t nr_lines = 0;

	writer->head = writer->out->len;
	writer->nr_lines = 0;
	strbuf_append(writer->out, &nr_lines, sizeof(nr_lines));
}

void frame_writer_add(struct frame_writer *writer, const struct runtime_line *line)
{
	struct line_head head = { .line = line->line, .start_line = line->start_line };
	struct strbuf *out = writer->out;
	size_t at = out->len;

	if (writer->nr_lines == RUNTIME_MAX_LINES)
		return;
	strbuf_append(out, &head, sizeof(head));
	head.name_len = append_text(out, line->name, line->name_len, RUNTIME_NAME_MAX_BYTES);
	head.filename_len = append_text(out, line->filename, line->filename_len,
					RUNTIME_FILE_MAX_BYTES);
	if (strbuf_error(out) < 0)
		return;
	memcpy(out->data + at, &head, sizeof(head));
	set_nr_lines(writer, writer->nr_lines + 1);
}

void frame_writer_drop(struct frame_writer *writer)
{
	strbuf_truncate(writer->out, writer->head + sizeof(writer->nr_lines));
	set_nr_lines(writer, 0);
}

/* Returns the next bytes, or NULL if there are fewer. */
static const char *take(struct frame_reader *reader, size_t len)
{
	const char *at = reader->bytes + reader->position;

	if (len > reader->len - reader->position)
		return NULL;
	reader->position += len;
	return at;
}

/* Returns the next text, or NULL if it is damaged. */
static const char *take_text(struct frame_reader *reader, size_t len, size_t max)
{
	const char *text = len <= max ? take(reader, len) : NULL;

	return text && is_plain(text, len) ? text : NULL;
}

int frame_reader_next(struct frame_reader *reader, uint32_t *ret_nr_lines)
{
	uint32_t nr_lines;
	const char *bytes = take(reader, sizeof(nr_lines));

	if (!bytes)
		return -EBADMSG;
	memcpy(&nr_lines, bytes, sizeof(nr_lines));
	if (nr_lines > RUNTIME_MAX_LINES)
		return -EBADMSG;
	*ret_nr_lines = nr_lines;
	return 0;
}

int frame_reader_line(struct frame_reader *reader, struct runtime_line *ret_line)
{
	struct line_head head;
	const char *bytes = take(reader, sizeof(head));

	if (!bytes)
		return -EBADMSG;
	memcpy(&head, bytes, sizeof(head));

	const char *name = take_text(reader, head.name_len, RUNTIME_NAME_MAX_BYTES);
	if (!name)
		return -EBADMSG;
	const char *filename = take_text(reader, head.filename_len, RUNTIME_FILE_MAX_BYTES);
	if (!filename)
		return -EBADMSG;
	*ret_line = (struct runtime_line){
		.name = name,
		.filename = filename,
		.name_len = head.name_len,
		.filename_len = head.filename_len,
		.line = head.line,
		.start_line = head.start_line,
	};
	return 0;
}

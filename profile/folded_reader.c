/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/folded_reader.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/strview.h"
#include "profile/builder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define MARK_LEN 4
#define INLINED "_[i]"
#define NAME_MAX_BYTES ((size_t)1 << 16)

struct folded_reader {
	struct builder *builder; /* owned */
	struct strbuf *message; /* borrowed */
	struct strbuf name; /* scratch */
	uint64_t line; /* number of the current one, from 1 on */
	uint64_t total; /* counts so far */
	/* Of the current stack. */
	struct strview frames[FOLDED_MAX_FRAMES];
	uint32_t locations[FOLDED_MAX_FRAMES]; /* filled from the end on: leaf first */
	struct profile_line lines[FOLDED_MAX_FRAMES]; /* of a location, innermost first */
};

static int refuse(struct folded_reader *reader, const char *reason)
{
	strbuf_appendf(reader->message, "line %" PRIu64 ": %s", reader->line, reason);
	return -EBADMSG;
}

static bool is_inlined(struct strview frame)
{
	return frame.len > MARK_LEN && strview_ends_with(frame, INLINED);
}

/* Takes the mark of its kind off a frame. */
static enum frame_kind take_kind(struct strview *frame)
{
	static const struct {
		const char *mark;
		enum frame_kind kind;
	} marks[] = {
		{ "_[k]", FRAME_KERNEL }, { "_[g]", FRAME_GO },	     { "_[r]", FRAME_RUST },
		{ "_[j]", FRAME_JIT },	  { "_[p]", FRAME_CPYTHON }, { INLINED, FRAME_NATIVE },
	};

	for (size_t i = 0; i < array_len(marks) && frame->len > MARK_LEN; i++) {
		if (strview_ends_with(*frame, marks[i].mark)) {
			frame->len -= MARK_LEN;
			return marks[i].kind;
		}
	}
	return strview_starts_with(*frame, "[") && strview_ends_with(*frame, "]") ? FRAME_STOP
										  : FRAME_NATIVE;
}

static int add_name(struct folded_reader *reader, struct strview name, uint32_t *ret_id)
{
	strbuf_clear(&reader->name);
	strbuf_append(&reader->name, name.text, name.len);
	int r = strbuf_error(&reader->name);
	if (r == -ENOSPC)
		return refuse(reader, "a name is too long");
	return r < 0 ? r : builder_add_string(reader->builder, strbuf_str(&reader->name), ret_id);
}

static int add_function(struct folded_reader *reader, struct strview name, uint32_t *ret_function)
{
	struct profile_function function = { 0 };

	int r = add_name(reader, name, &function.name);
	if (r < 0)
		return r;
	function.system_name = function.name;
	return builder_add_function(reader->builder, &function, ret_function);
}

/* Adds frame `first` and what is inlined into it, up to frame `end`. Its address is made up: the
 * number of a function, so that equal locations are found. */
static int add_location(struct folded_reader *reader, size_t first, size_t end, uint32_t *ret_id)
{
	struct profile_location location = { 0 };
	size_t nr = end - first;

	for (size_t i = 0; i < nr; i++) {
		struct strview frame = reader->frames[first + i];
		enum frame_kind kind = take_kind(&frame);
		struct profile_line *line = &reader->lines[nr - 1 - i];

		if (i == 0)
			location.kind = kind;
		*line = (struct profile_line){ 0 };
		int r = add_function(reader, frame, &line->function);
		if (r < 0)
			return r;
	}
	location.address = reader->lines[nr - 1].function;
	return builder_add_named_location(reader->builder, &location, reader->lines, nr, ret_id);
}

/* Adds the stack of the first `nr` frames. */
static int add_stack(struct folded_reader *reader, size_t nr, uint32_t *ret_stack)
{
	size_t first_location = FOLDED_MAX_FRAMES, end;

	for (size_t first = 0; first < nr; first = end) {
		for (end = first + 1; end < nr && is_inlined(reader->frames[end]);)
			end++;
		int r = add_location(reader, first, end, &reader->locations[--first_location]);
		if (r < 0)
			return r;
	}
	return builder_add_stack(reader->builder, reader->locations + first_location,
				 FOLDED_MAX_FRAMES - first_location, ret_stack);
}

/* Takes the count off a line, with the blanks before it. */
static int take_count(struct folded_reader *reader, struct strview *line, uint64_t *ret_count)
{
	struct strview digits = strview_behind_last(*line, ' ');
	const char *cursor = digits.text, *end = digits.text + digits.len;

	if (digits.len == line->len)
		return refuse(reader, "expected frames, a blank and a count");
	int r = parse_digits(&cursor, end, 10, ret_count);
	if (r < 0 || cursor != end)
		return refuse(reader, "the count at the end is not a whole number");
	if (*ret_count > INT64_MAX - reader->total)
		return refuse(reader, "the counts are too large");
	*line = strview_head(*line, line->len - digits.len - 1);
	return 0;
}

static int split_frames(struct folded_reader *reader, struct strview stack, size_t *ret_nr)
{
	size_t nr = 0;

	for (struct strview frame; strview_next(&stack, ';', &frame); nr++) {
		if (nr == FOLDED_MAX_FRAMES)
			return refuse(reader, "the stack has too many frames");
		reader->frames[nr] = frame;
	}
	*ret_nr = nr;
	return 0;
}

static int read_line(struct folded_reader *reader, struct strview line)
{
	struct profile_sample sample = { 0 };
	struct strview stack = line, comm;
	size_t nr;

	int r = take_count(reader, &stack, &sample.count);
	if (r < 0 || sample.count == 0)
		return r;
	if (!strview_next(&stack, ';', &comm))
		return refuse(reader, "expected frames before the count");
	r = add_name(reader, comm, &sample.process_comm);
	if (r == 0)
		r = split_frames(reader, stack, &nr);
	if (r == 0)
		r = add_stack(reader, nr, &sample.stack);
	if (r == 0)
		r = builder_add_sample(reader->builder, &sample);
	reader->total += sample.count;
	return r;
}

static int read_lines(struct folded_reader *reader, struct strview text)
{
	int r = 0;

	for (struct strview line; r == 0 && strview_next(&text, '\n', &line);) {
		reader->line++;
		line = strview_without_suffix(line, "\r");
		if (memchr(line.text, '\0', line.len))
			r = refuse(reader, "it is not text");
		else if (line.len > 0 && *line.text != '#')
			r = read_line(reader, line);
	}
	return r;
}

static void reader_free(struct folded_reader *reader)
{
	if (!reader)
		return;
	builder_free(reader->builder);
	strbuf_done(&reader->name);
	free(reader);
}

DEFINE_FREEP(struct folded_reader, reader_free)

int folded_read(const char *text, size_t len, size_t max_bytes, struct profile **ret_profile,
		struct strbuf *message)
{
	_cleanup_(reader_freep) struct folded_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->message = message;
	reader->name = strbuf_with_max(NAME_MAX_BYTES);
	int r = builder_new(max_bytes, &reader->builder);
	if (r == 0)
		r = read_lines(reader, (struct strview){ text, len });
	if (r == -ENOSPC) {
		strbuf_appendf(message, "the profile takes more than %zu MB of memory",
			       max_bytes >> 20);
		return -EFBIG;
	}
	if (r == -ENOMEM)
		strbuf_append_str(message, "out of memory");
	if (r < 0)
		return r;
	*ret_profile = builder_seal(take_ptr(reader->builder));
	return 0;
}

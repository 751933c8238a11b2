/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include "base/fileio.h"
#include "base/parse.h"
#include "bpf/shared/frames.h"

#include <fcntl.h>
#include <string.h>

/* The rest of a line. */
struct words {
	const char *cursor;
	const char *end;
};

static int next_number(struct words *words, unsigned int base, uint64_t *ret_number)
{
	if (words->cursor < words->end && *words->cursor == ' ')
		words->cursor++;
	return parse_digits(&words->cursor, words->end, base, ret_number) < 0 ? -EBADMSG : 0;
}

static int next_hex(struct words *words, uint64_t *ret_number)
{
	return next_number(words, 16, ret_number);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the number of bytes, or an error. */
static int next_bytes(struct words *words, uint8_t ret_bytes[static SNAPSHOT_LINE_BYTES])
{
	int nr = 0;

	if (words->cursor < words->end && *words->cursor == ' ')
		words->cursor++;
	for (; words->end - words->cursor >= 2; words->cursor += 2) {
		int high = hex_digit(words->cursor[0]), low = hex_digit(words->cursor[1]);

		if (high < 0 || low < 0 || nr == SNAPSHOT_LINE_BYTES)
			return -EBADMSG;
		ret_bytes[nr++] = (uint8_t)(high << 4 | low);
	}
	return words->cursor == words->end ? nr : -EBADMSG;
}

static int read_file_line(struct snapshots *snapshots, struct words *words)
{
	struct snapshot_file *file = &snapshots->files[snapshots->nr_files];
	uint64_t slot;

	if (snapshots->nr_files == SNAPSHOT_MAX_FILES)
		return -ENOSPC;
	file->eh_frame = strbuf_with_max(SNAPSHOT_MAX_BYTES);
	snapshots->nr_files++;
	if (next_number(words, 10, &slot) < 0 || slot != snapshots->nr_files)
		return -EBADMSG;
	return next_hex(words, &file->delta);
}

static int read_eh_frame(struct snapshots *snapshots, struct words *words)
{
	if (snapshots->nr_files == 0)
		return -EBADMSG;
	return next_hex(words, &snapshots->files[snapshots->nr_files - 1].eh_frame_address);
}

static int read_bytes(struct snapshots *snapshots, struct words *words)
{
	uint8_t bytes[SNAPSHOT_LINE_BYTES];
	int nr = next_bytes(words, bytes);

	if (nr < 0 || snapshots->nr_files == 0)
		return -EBADMSG;
	strbuf_append(&snapshots->files[snapshots->nr_files - 1].eh_frame, bytes, (size_t)nr);
	return 0;
}

static int read_code(struct snapshots *snapshots, struct words *words)
{
	struct snapshot_code *code = &snapshots->code[snapshots->nr_code];

	if (snapshots->nr_code == SNAPSHOT_MAX_CODE)
		return -ENOSPC;
	if (next_hex(words, &code->start) < 0 || next_hex(words, &code->end) < 0 ||
	    next_hex(words, &code->bias) < 0 || next_number(words, 10, &code->slot) < 0)
		return -EBADMSG;
	if (code->start >= code->end || code->slot > snapshots->nr_files ||
	    (snapshots->nr_code && code->start < code[-1].end))
		return -EBADMSG;
	snapshots->nr_code++;
	return 0;
}

static int read_regs(struct snapshots *snapshots, struct words *words)
{
	for (size_t i = 0; i < array_len(snapshots->regs); i++)
		if (next_hex(words, &snapshots->regs[i]) < 0)
			return -EBADMSG;
	return 0;
}

/* Takes the place of what was there before. */
static int read_memory(struct snapshots *snapshots, struct words *words)
{
	uint64_t address;
	size_t i = 0;

	if (next_hex(words, &address) < 0 || address % SNAPSHOT_LINE_BYTES)
		return -EBADMSG;
	while (i < snapshots->nr_lines && snapshots->lines[i].address != address)
		i++;
	if (i == SNAPSHOT_MAX_LINES)
		return -ENOSPC;
	if (next_bytes(words, snapshots->lines[i].data) != SNAPSHOT_LINE_BYTES)
		return -EBADMSG;
	snapshots->lines[i].address = address;
	if (i == snapshots->nr_lines)
		snapshots->nr_lines++;
	return 0;
}

static int read_frame(struct snapshots *snapshots, struct words *words)
{
	if (snapshots->nr_frames == SNAPSHOT_MAX_FRAMES)
		return -ENOSPC;
	return next_hex(words, &snapshots->frames[snapshots->nr_frames++]);
}

static bool is_word(const struct words *words, const char *word)
{
	size_t len = (size_t)(words->end - words->cursor);

	return len == strlen(word) + 1 && memcmp(words->cursor + 1, word, len - 1) == 0;
}

static int read_end(struct snapshots *snapshots, struct words *words)
{
	static const char *const names[] = {
#define X(NAME, name, words) #name,
		UNWIND_RESULTS(X)
#undef X
	};

	snapshots->is_open = is_word(words, "any");
	snapshots->result = 0;
	while (!snapshots->is_open && snapshots->result < array_len(names) &&
	       !is_word(words, names[snapshots->result]))
		snapshots->result++;
	snapshots->is_complete = true;
	return snapshots->result < array_len(names) ? 0 : -EBADMSG;
}

static int read_snapshot(struct snapshots *snapshots, struct words *words)
{
	(void)words;
	snapshots->nr_frames = 0;
	return 0;
}

static const struct {
	const char *keyword;
	int (*read)(struct snapshots *snapshots, struct words *words);
} keywords[] = {
	{ "bytes", read_bytes },   { "code", read_code },      { "eh_frame", read_eh_frame },
	{ "end", read_end },	   { "file", read_file_line }, { "frame", read_frame },
	{ "memory", read_memory }, { "regs", read_regs },      { "snapshot", read_snapshot },
};

static int read_line(struct snapshots *snapshots, const char *line, const char *end)
{
	if (line == end || *line == '#')
		return 0;
	for (size_t i = 0; i < array_len(keywords); i++) {
		size_t len = strlen(keywords[i].keyword);
		struct words words = { line + len, end };

		if ((size_t)(end - line) > len && line[len] == ' ' &&
		    memcmp(line, keywords[i].keyword, len) == 0)
			return keywords[i].read(snapshots, &words);
	}
	return -EBADMSG;
}

int snapshots_next(struct snapshots *snapshots)
{
	const char *end = strbuf_str(&snapshots->text) + snapshots->text.len;

	snapshots->is_complete = false;
	while (snapshots->cursor < end && !snapshots->is_complete) {
		const char *line = snapshots->cursor;
		const char *line_end = memchr(line, '\n', (size_t)(end - line));

		if (!line_end)
			return -EBADMSG;
		snapshots->line++;
		int r = read_line(snapshots, line, line_end);
		if (r < 0)
			return r;
		snapshots->cursor = line_end + 1;
	}
	return snapshots->is_complete;
}

int snapshots_open(struct snapshots *snapshots, const char *path)
{
	memset(snapshots, 0, sizeof(*snapshots));
	snapshots->text = strbuf_with_max(SNAPSHOT_MAX_BYTES);
	int r = file_read_at(AT_FDCWD, path, &snapshots->text);
	if (r < 0)
		return r;
	snapshots->cursor = strbuf_str(&snapshots->text);
	return 0;
}

void snapshots_done(struct snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->nr_files; i++)
		strbuf_done(&snapshots->files[i].eh_frame);
	strbuf_done(&snapshots->text);
}

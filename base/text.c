/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/cleanup.h"
#include "base/printable.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#define NAME_MAX_BYTES 65536

int text_copy(const char *text, char **ret_copy)
{
	*ret_copy = text ? strdup(text) : NULL;
	return text && !*ret_copy ? -ENOMEM : 0;
}

void text_append_count(struct strbuf *out, uint64_t count)
{
	if (count >= 1000) {
		text_append_count(out, count / 1000);
		strbuf_appendf(out, ",%03" PRIu64, count % 1000);
	} else {
		strbuf_appendf(out, "%" PRIu64, count);
	}
}

void text_append_time(struct strbuf *out, uint64_t time_ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "\xc2\xb5s" } };

	for (size_t i = 0; i < array_len(units); i++) {
		if (time_ns < units[i].ns)
			continue;
		strbuf_appendf(out, "%.2f %s", (double)time_ns / (double)units[i].ns,
			       units[i].unit);
		return;
	}
	strbuf_appendf(out, "%" PRIu64 " ns", time_ns);
}

void text_append_share(struct strbuf *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * (double)part / (double)whole : 0;

	strbuf_appendf(out, "%5.1f %%", percent);
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t text_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !is_continuation(*text);
	return columns;
}

/* Returns the start of the character in that column. */
static const char *at_column(const char *text, size_t column)
{
	while (*text && column > 0) {
		do
			text++;
		while (is_continuation(*text));
		column--;
	}
	return text;
}

void text_append_name(struct strbuf *out, const char *text, size_t columns, enum elide elide)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_MAX_BYTES);

	const char *clean = printable_text(text, &name);
	size_t have = text_columns(clean);
	if (have <= columns || columns < 3) {
		strbuf_append_str(out, clean);
		return;
	}

	size_t left = elide == ELIDE_LEFT ? 0 : (columns - 1) / 2;
	size_t right = columns - 1 - left;
	strbuf_append(out, clean, (size_t)(at_column(clean, left) - clean));
	strbuf_append_str(out, "…");
	strbuf_append_str(out, at_column(clean, have - right));
}

void text_append_shell_word(struct strbuf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_./:=@,+%";

	if (*word && strspn(word, plain) == strlen(word)) {
		strbuf_append_str(out, word);
		return;
	}
	strbuf_append_char(out, '\'');
	for (; *word; word++)
		strbuf_append_str(out, *word == '\'' ? "'\\''" : (const char[]){ *word, '\0' });
	strbuf_append_char(out, '\'');
}

unsigned int text_terminal_columns(int fd, unsigned int fallback)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return fallback;
	return size.ws_col;
}

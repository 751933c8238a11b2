/* SPDX-License-Identifier: Apache-2.0 */
/* The live line:
 *
 *	profiling the whole machine  ▕███████   ▏ 7/10 s  17,812 samples  lost 0
 *
 * It consists of parts. If the terminal is too narrow for all of them, the least important ones are
 * left out: first the hint "(Ctrl-C = stop and save)", then the number of CPUs, then the bar. */
#include "commands/progress.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BAR_COLUMNS 10
#define TARGET_COLUMNS_MAX 40
#define TARGET_COLUMNS_NARROW 24
#define NARROW_COLUMNS 100
#define LINE_MAX_BYTES 4096
#define DEFAULT_COLUMNS 80
#define COLOR_WARN "\033[33m"
#define COLOR_OFF "\033[0m"
#define ERASE_LINE "\r\033[K"

enum part {
	PART_TARGET,
	PART_BAR,
	PART_TIME,
	PART_SAMPLES,
	PART_CPUS,
	PART_LOST,
	PART_HINT,
	NR_PARTS,
};

/* The optional parts, in the order in which they are left out. All other parts are always shown. */
static const enum part expendable[] = { PART_HINT, PART_CPUS, PART_BAR };

static bool has_value(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

static bool locale_is_utf8(void)
{
	const char *locale = has_value("LC_ALL")     ? getenv("LC_ALL")
			     : has_value("LC_CTYPE") ? getenv("LC_CTYPE")
						     : getenv("LANG");

	return locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8"));
}

static bool is_live_terminal(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

void progress_init(struct progress *progress, bool quiet)
{
	progress->fd = STDERR_FILENO;
	progress->mode = quiet				   ? PROGRESS_QUIET
			 : is_live_terminal(STDERR_FILENO) ? PROGRESS_LIVE
							   : PROGRESS_ONE_LINE;
	progress->has_color = !has_value("NO_COLOR");
	progress->is_utf8 = locale_is_utf8();
	progress->columns = text_terminal_columns(STDERR_FILENO, DEFAULT_COLUMNS);
}

/* Errors are ignored: the result does not depend on stderr, and there is no other place for a
 * message. */
static void write_line(const struct progress *progress, const struct strbuf *line)
{
	if (strbuf_error(line) == 0 && fd_write_all(progress->fd, line->data, line->len) < 0)
		return;
}

void progress_start(const struct progress *progress)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

	if (progress->mode != PROGRESS_ONE_LINE)
		return;
	strbuf_appendf(&line, "profiling %s on %" PRIu32 " CPUs", progress->target,
		       progress->nr_cpus);
	if (progress->duration_ns)
		strbuf_appendf(&line, " for %g s",
			       (double)progress->duration_ns / (double)NSEC_PER_SEC);
	strbuf_append_str(&line, " (Ctrl-C = stop and save)\n");
	write_line(progress, &line);
}

static void append_bar(const struct progress *progress, const struct progress_state *state,
		       struct strbuf *out)
{
	uint64_t filled = BAR_COLUMNS;

	if (state->elapsed_ns < progress->duration_ns)
		filled = (uint64_t)((double)state->elapsed_ns * BAR_COLUMNS /
				    (double)progress->duration_ns);
	strbuf_append_str(out, progress->is_utf8 ? "▕" : "[");
	for (uint64_t i = 0; i < BAR_COLUMNS; i++)
		strbuf_append_str(out, i >= filled ? " " : progress->is_utf8 ? "█" : "#");
	strbuf_append_str(out, progress->is_utf8 ? "▏" : "]");
}

static void append_time(const struct progress *progress, const struct progress_state *state,
			struct strbuf *out)
{
	uint64_t elapsed_s = state->elapsed_ns / NSEC_PER_SEC;

	if (state->is_saving)
		strbuf_append_str(out, "saving");
	else if (progress->duration_ns)
		strbuf_appendf(out, "%" PRIu64 "/%g s", elapsed_s,
			       (double)progress->duration_ns / (double)NSEC_PER_SEC);
	else
		strbuf_appendf(out, "%" PRIu64 " s", elapsed_s);
}

static void append_part(const struct progress *progress, const struct progress_state *state,
			enum part part, struct strbuf *out)
{
	switch (part) {
	case PART_TARGET:
		strbuf_append_str(out, "profiling ");
		text_append_name(out, progress->target,
				 progress->columns < NARROW_COLUMNS ? TARGET_COLUMNS_NARROW
								    : TARGET_COLUMNS_MAX,
				 ELIDE_MIDDLE);
		break;
	case PART_BAR:
		append_bar(progress, state, out);
		break;
	case PART_TIME:
		append_time(progress, state, out);
		break;
	case PART_SAMPLES:
		text_append_count(out, state->nr_samples);
		strbuf_append_str(out, " samples");
		break;
	case PART_CPUS:
		strbuf_appendf(out, "%" PRIu32 " CPUs", progress->nr_cpus);
		break;
	case PART_LOST:
		strbuf_append_str(out, "lost ");
		text_append_count(out, state->nr_lost);
		break;
	case PART_HINT:
		strbuf_append_str(out, "(Ctrl-C = stop and save)");
		break;
	case NR_PARTS:
		break;
	}
}

/* Appends the parts in the mask. Colors take no columns. */
static void append_parts(const struct progress *progress, const struct progress_state *state,
			 unsigned int mask, bool color, struct strbuf *out)
{
	for (enum part part = 0; part < NR_PARTS; part++) {
		bool is_warning = color && part == PART_LOST && state->nr_lost > 0;

		if (!(mask & 1u << part))
			continue;
		if (part > 0)
			strbuf_append_str(out, part == PART_TIME && (mask & 1u << PART_BAR) ? " "
											    : "  ");
		strbuf_append_str(out, is_warning ? COLOR_WARN : "");
		append_part(progress, state, part, out);
		strbuf_append_str(out, is_warning ? COLOR_OFF : "");
	}
}

/* Appends the line as wide as the terminal allows. */
static void append_line(const struct progress *progress, const struct progress_state *state,
			struct strbuf *out)
{
	unsigned int mask = (1u << NR_PARTS) - 1;

	if (progress->duration_ns == 0)
		mask &= ~(1u << PART_BAR);
	for (size_t i = 0; i < array_len(expendable); i++) {
		_cleanup_(strbuf_done) struct strbuf plain = strbuf_with_max(LINE_MAX_BYTES);

		append_parts(progress, state, mask, false, &plain);
		if (text_columns(strbuf_str(&plain)) < progress->columns)
			break;
		mask &= ~(1u << expendable[i]);
	}
	append_parts(progress, state, mask, progress->has_color, out);
}

void progress_update(const struct progress *progress, const struct progress_state *state)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

	if (progress->mode != PROGRESS_LIVE)
		return;
	strbuf_append_str(&line, ERASE_LINE);
	append_line(progress, state, &line);
	write_line(progress, &line);
}

void progress_done(const struct progress *progress)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(LINE_MAX_BYTES);

	if (progress->mode != PROGRESS_LIVE)
		return;
	strbuf_append_str(&line, ERASE_LINE);
	write_line(progress, &line);
}

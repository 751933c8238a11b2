/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet top: shows which applications use the CPU, live or of a range of the record. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/text.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/record_query.h"
#include "commands/top_live.h"
#include "findings/findings_text.h"
#include "top/report.h"
#include "top/terminal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX_BYTES ((size_t)256 << 20)
#define DEFAULT_COLUMNS 100

static const enum grouping groupings[] = {
	[OPTION_BY_APPLICATION] = BY_APPLICATION,
	[OPTION_BY_WORKLOAD] = BY_WORKLOAD,
	[OPTION_BY_POD] = BY_POD,
	[OPTION_BY_CONTAINER] = BY_CONTAINER,
	[OPTION_BY_PROCESS] = BY_PROCESS,
	[OPTION_BY_THREAD] = BY_THREAD,
	[OPTION_BY_COMM] = BY_COMM,
	[OPTION_BY_FUNCTION] = BY_FUNCTION,
};

static int append_table(const struct options *options, struct board *board, struct screen *screen,
			struct strbuf *text)
{
	struct cells_style style;

	terminal_get_style(STDOUT_FILENO, &style);
	int r = board_arrange(board, screen);
	if (r < 0)
		return r;
	return options->json ? report_append_json(text, board, options->rows)
			     : report_append_text(text, board, screen, options->rows, &style);
}

int top_print(const struct options *options, struct board *board, struct screen *screen)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	int r = append_table(options, board, screen, &text);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, strbuf_str(&text), text.len);
	if (r < 0)
		fprintf(stderr, "flamelet: cannot write the table: %s\n", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static int append_samples(const struct options *options, struct profile *profile,
			  struct profile *waits, struct board *board, struct answer *answer)
{
	struct screen screen = { .by = groupings[options->by], .has_waits = waits };
	unsigned int columns = text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS);

	int r = board_show(board, profile, waits, screen.by);
	if (r < 0)
		return answer_fail(answer, "cannot sum the samples", r);
	if (!options->json) {
		record_query_append_times(profile, &answer->body);
		strbuf_append_char(&answer->body, '\n');
	}
	r = append_table(options, board, &screen, &answer->body);
	if (r < 0)
		return answer_fail(answer, "cannot write the table", r);
	if (!options->json)
		r = findings_append_largest(profile, columns, &answer->body);
	if (r == 0 && !options->json && waits)
		r = findings_append_largest(waits, columns, &answer->body);
	return r < 0 ? answer_fail(answer, "cannot print the findings", r) : STATUS_OK;
}

int answer_top(const struct options *options, const struct store_reader *reader,
	       struct answer *answer)
{
	_cleanup_(record_query_done) struct record_query query = { 0 };
	_cleanup_(store_answer_done) struct store_answer samples = { 0 }, waits = { 0 };
	_cleanup_(board_done) struct board board = { 0 };

	int status = record_query_init(options, reader, &answer->messages, &query);
	if (status == STATUS_OK)
		status = record_query_waits(&query, &waits);
	if (status == STATUS_OK)
		status = record_query_both(&query, &waits, &answer->messages, &samples);
	if (status != STATUS_OK)
		return status;
	board.nr_lost = samples.nr_lost;
	return append_samples(options, samples.profile, waits.profile, &board, answer);
}

int cmd_top(const struct options *options)
{
	struct screen screen = { .by = groupings[options->by] };

	if (options->ranges.nr > 0)
		return answer_print(options, answer_top);
	if (options->label_selectors.nr > 0) {
		fputs("flamelet: --select selects from the record; give its time with --range, "
		      "for example --range -10m\n",
		      stderr);
		return STATUS_USAGE;
	}
	if (options->once || options->json || options->iterations > 0 || !terminal_is_usable())
		return top_live_tables(options, &screen);
	return top_live_screen(options, &screen);
}

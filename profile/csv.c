/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/csv.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "profile/function_table.h"

#include <inttypes.h>
#include <string.h>

#define HEAD "group,function,kind,module,file,line,self,total,self_percent,total_percent\n"

/* Characters with which a formula begins in a spreadsheet. */
#define FORMULA "=+-@"

void csv_append_text(struct strbuf *out, const char *text)
{
	bool is_formula = *text && strchr(FORMULA, *text);
	bool is_quoted = is_formula || strpbrk(text, "\",; ");

	if (is_quoted)
		strbuf_append_char(out, '"');
	if (is_formula)
		strbuf_append_char(out, '\'');
	for (struct printable p = printable_of(text); printable_next(&p);) {
		if (*p.piece == '"')
			strbuf_append_char(out, '"');
		strbuf_append(out, p.piece, p.len);
	}
	if (is_quoted)
		strbuf_append_char(out, '"');
	strbuf_append_char(out, ',');
}

static double percent(uint64_t count, uint64_t total)
{
	return total ? 100.0 * (double)count / (double)total : 0;
}

static void put_sum(struct strbuf *out, const struct function_table *table,
		    const struct frame_rows *rows, const struct function_sum *sum, uint64_t total)
{
	const struct frame_row *row = &rows->rows[sum->row];

	csv_append_text(out, intern_get(&table->groups, sum->group));
	csv_append_text(out, frame_row_name(rows, sum->row));
	csv_append_text(out, frame_kind_word(row->kind));
	csv_append_text(out, profile_string(rows->profile, row->module));
	csv_append_text(out, profile_string(rows->profile, row->source));
	if (row->start_line)
		strbuf_appendf(out, "%" PRIu32, row->start_line);
	strbuf_appendf(out, ",%" PRIu64 ",%" PRIu64 ",%.2f,%.2f\n", sum->self, sum->total,
		       percent(sum->self, total), percent(sum->total, total));
}

static int put_table(struct strbuf *out, const struct frame_rows *rows)
{
	_cleanup_(function_table_done) struct function_table table = { 0 };
	uint64_t total = profile_total(rows->profile), nr_without_stack = total;

	int r = function_table_init(&table, rows);
	if (r < 0)
		return r;
	strbuf_append_str(out, HEAD);
	for (size_t i = 0; i < table.nr_sums; i++) {
		put_sum(out, &table, rows, &table.sums[i], total);
		nr_without_stack -= table.sums[i].self;
	}
	if (nr_without_stack > 0)
		strbuf_appendf(out, ",[no stack],truncated,,,,%" PRIu64 ",%" PRIu64 ",%.2f,%.2f\n",
			       nr_without_stack, nr_without_stack, percent(nr_without_stack, total),
			       percent(nr_without_stack, total));
	return strbuf_error(out);
}

int csv_encode(const struct profile *profile, struct strbuf *out)
{
	_cleanup_(frame_rows_done) struct frame_rows rows = { 0 };

	int r = frame_rows_init(&rows, profile);
	if (r == 0)
		r = put_table(out, &rows);
	strbuf_fail(out, r);
	return r;
}

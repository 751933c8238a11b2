/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are sorted from the surest growth to the surest decline. Of many rows, those in the middle
 * are left out. */
#include "profile/diff_page.h"

#include "base/text.h"
#include "profile/diff_svg.h"
#include "profile/xml.h"

#include <math.h>
#include <stdbool.h>

#define ARROW " \xe2\x86\x92 "
#define FUNCTIONS_MAX 250 /* of those that grew, and of the others */
#define OWNERS_MAX 15

static double percent(uint64_t part, uint64_t all)
{
	return all > 0 ? 100 * (double)part / (double)all : 0;
}

static void begin_card(struct strbuf *out)
{
	strbuf_append_str(out, "<div class=\"card\"><b>");
}

static void end_card(struct strbuf *out, const char *what)
{
	strbuf_appendf(out, "</b>%s</div>\n", what);
}

void diff_page_append_totals(const struct diff *diff, struct strbuf *out)
{
	struct diff_pair totals = diff_totals(diff);
	double cpus_before = diff_cpus_per_count(diff->before) * (double)totals.before;
	double cpus_after = diff_cpus_per_count(diff->after) * (double)totals.after;

	strbuf_append_str(out, "<section class=\"cards\">\n");
	if (cpus_before > 0 && cpus_after > 0) {
		begin_card(out);
		strbuf_appendf(out, "%.2f" ARROW "%.2f", cpus_before, cpus_after);
		end_card(out, "CPUs busy on average");
	}
	begin_card(out);
	text_append_count(out, totals.before);
	strbuf_append_str(out, ARROW);
	text_append_count(out, totals.after);
	end_card(out, profile_type_names(diff->after->type)->values);
	begin_card(out);
	strbuf_append_str(out, diff->measure == DIFF_SHARES ? "shares" : "amounts");
	end_card(out, "are compared");
	strbuf_append_str(out, "</section>\n");
}

static void put_share(uint64_t count, uint64_t total, struct strbuf *out)
{
	strbuf_appendf(out,
		       "<td class=\"value\" data-value=\"%.4f\"><i style=\"width:%.1f%%\"></i>"
		       "<span>%.1f %%</span></td>",
		       percent(count, total), percent(count, total), percent(count, total));
}

static void put_change(const struct diff *diff, const struct diff_row *row, struct strbuf *out)
{
	const char *mark = "";

	if (row->total.before == 0)
		mark = "new";
	if (row->total.after == 0)
		mark = "gone";
	strbuf_appendf(out,
		       "<td class=\"value\" data-value=\"%.4f\"><span>%+.1f</span> "
		       "<b>%s</b></td>",
		       diff_points(diff, row->self), diff_points(diff, row->self), mark);
}

static void put_numbers(const struct diff *diff, const struct diff_row *row, struct strbuf *out)
{
	struct diff_pair totals = diff_totals(diff);

	put_share(row->self.before, totals.before, out);
	put_share(row->self.after, totals.after, out);
	put_change(diff, row, out);
}

static void put_function(const struct diff *diff, const struct diff_row *row, struct strbuf *out)
{
	strbuf_append_str(out, "<tr>");
	put_numbers(diff, row, out);
	strbuf_append_str(out, "<td><button class=\"find\"><i style=\"background:");
	diff_svg_append_pair_color(out, diff, row->self);
	strbuf_append_str(out, "\"></i><span>");
	xml_append(out, row->name);
	strbuf_appendf(out, "</span></button></td><td class=\"text\">%s</td></tr>\n",
		       row->kind == FLAME_KERNEL ? "kernel" : "");
}

static void put_owner(const struct diff *diff, const struct diff_row *row, struct strbuf *out)
{
	strbuf_append_str(out, "<tr>");
	put_numbers(diff, row, out);
	strbuf_append_str(out, "<td class=\"text\" title=\"");
	xml_append(out, row->name);
	strbuf_append_str(out, "\">");
	xml_append(out, row->name);
	strbuf_append_str(out, "</td></tr>\n");
}

/* Appends the first rows of a sorted table that grew and the last ones that shrank. Returns the
 * number of all others. */
static size_t put_rows(const struct diff *diff, const struct diff_table *table, size_t nr_max,
		       void (*put_row)(const struct diff *, const struct diff_row *,
				       struct strbuf *),
		       struct strbuf *out)
{
	size_t nr_left_out = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		bool has_grown = diff_change(diff, table->rows[i].self) > 0;
		size_t rank = has_grown ? i : table->nr_rows - 1 - i;

		if (rank < nr_max && !diff_is_noise(diff, table->rows[i].self))
			put_row(diff, &table->rows[i], out);
		else
			nr_left_out++;
	}
	return nr_left_out;
}

static void put_left_out(struct strbuf *out, size_t nr)
{
	strbuf_append_str(out, "</tbody>\n</table>\n");
	if (nr == 0)
		return;
	strbuf_append_str(out,
			  "<p class=\"more\">not shown, as the change is small or may be noise: ");
	text_append_count(out, nr);
	strbuf_append_str(out, "</p>\n");
}

void diff_page_append_functions(const struct diff *diff, const struct diff_table *functions,
				struct strbuf *out)
{
	strbuf_append_str(out, "<section class=\"panel functions\">\n<h2>Functions</h2>\n<table>\n"
			       "<thead><tr><th>Self before</th><th>Self after</th>"
			       "<th aria-sort=\"descending\">Points</th><th>Function</th>"
			       "<th></th></tr></thead>\n<tbody>\n");
	put_left_out(out, put_rows(diff, functions, FUNCTIONS_MAX, put_function, out));
	strbuf_append_str(out, "</section>\n");
}

void diff_page_append_owners(const struct diff *diff, const struct diff_table *owners,
			     struct strbuf *out)
{
	strbuf_append_str(out, "<div class=\"labels\">\n<section class=\"panel\">\n"
			       "<h2>Pods and processes</h2>\n<table>\n<thead><tr><th>Before</th>"
			       "<th>After</th><th aria-sort=\"descending\">Points</th>"
			       "<th>Name</th></tr></thead>\n<tbody>\n");
	put_left_out(out, put_rows(diff, owners, OWNERS_MAX, put_owner, out));
	strbuf_append_str(out, "</section>\n</div>\n");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/page_tables.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/flame_color.h"
#include "profile/page_totals.h"
#include "profile/ranking.h"
#include "profile/sample_label.h"
#include "profile/xml.h"

#include <inttypes.h>
#include <string.h>

#define FUNCTIONS_MAX 500
#define VALUES_MAX 15
#define LABEL_MAX_BYTES 4096

/* Labels that have a table of their own. `prefix` is put before a value, as in "shop/web-1". */
static const struct {
	const char *key, *prefix;
	const char *heading;
	size_t min_values; /* the table is shown if there are as many */
} labels[] = {
	{ "host", NULL, "Hosts", 2 },
	{ "pod", "namespace", "Pods", 1 },
	{ "comm", NULL, "Processes", 1 },
	{ "thread", NULL, "Threads", 2 },
};

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Appends a cell with a value, its share, and the share as a bar. The script sorts by the number of
 * samples. */
static void put_value(const struct profile *profile, uint64_t count, uint64_t all,
		      struct strbuf *out)
{
	strbuf_appendf(out,
		       "<td class=\"value\" data-value=\"%" PRIu64
		       "\"><i style=\"width:%.1f%%\"></i><span>",
		       count, percent(count, all));
	page_totals_append_value(profile, count, out);
	strbuf_appendf(out, "</span> <b>%.1f %%</b></td>", percent(count, all));
}

static void put_count(struct strbuf *out, const char *what, size_t nr, size_t nr_shown)
{
	if (nr <= nr_shown)
		return;
	strbuf_append_str(out, "<p class=\"more\">");
	text_append_count(out, nr - nr_shown);
	strbuf_appendf(out, " more %s</p>\n", what);
}

/* Appends a cell with the function's name and the colour that it has in the flame graph. */
static void put_name(const struct frame_rows *rows, uint32_t row, struct strbuf *out)
{
	const char *name = frame_row_name(rows, row);

	strbuf_append_str(out, "<td><button class=\"find\"><i style=\"background:");
	flame_color_append(out, flame_kind_of(rows->rows[row].kind), false, name);
	strbuf_append_str(out, "\"></i><span>");
	xml_append(out, name);
	strbuf_append_str(out, "</span></button></td>");
}

static void put_text(struct strbuf *out, const char *text)
{
	strbuf_append_str(out, "<td class=\"text\" title=\"");
	xml_append(out, text);
	strbuf_append_str(out, "\">");
	xml_append(out, text);
	strbuf_append_str(out, "</td>");
}

/* Returns the last part of a path. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_module(struct strbuf *out, const char *path)
{
	strbuf_append_str(out, "<td class=\"text\" title=\"");
	xml_append(out, path);
	strbuf_append_str(out, "\">");
	xml_append(out, base_name(path));
	strbuf_append_str(out, "</td>");
}

static void put_function(const struct frame_rows *rows, const struct function_table *functions,
			 const struct function_sum *sum, uint64_t all, struct strbuf *out)
{
	const struct profile *p = rows->profile;
	const struct frame_row *row = &rows->rows[sum->row];

	strbuf_append_str(out, "<tr>");
	put_value(p, sum->self, all, out);
	put_value(p, sum->total, all, out);
	put_name(rows, sum->row, out);
	put_module(out, row->module ? profile_string(p, row->module) : frame_kind_word(row->kind));
	if (p->is_grouped)
		put_text(out, intern_get(&functions->groups, sum->group));
	strbuf_append_str(out, "</tr>\n");
}

void page_tables_append_functions(const struct frame_rows *rows,
				  const struct function_table *functions, struct strbuf *out)
{
	size_t nr = functions->nr_sums < FUNCTIONS_MAX ? functions->nr_sums : FUNCTIONS_MAX;
	uint64_t all = profile_total(rows->profile);

	strbuf_append_str(out, "<section class=\"panel functions\">\n<h2>Functions</h2>\n<table>\n"
			       "<thead><tr><th aria-sort=\"descending\">Self</th><th>Total</th>"
			       "<th>Function</th><th>Module</th>");
	strbuf_append_str(out, rows->profile->is_grouped ? "<th>Group</th>" : "");
	strbuf_append_str(out, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < nr; i++)
		put_function(rows, functions, &functions->sums[i], all, out);
	strbuf_append_str(out, "</tbody>\n</table>\n");
	put_count(out, "functions", functions->nr_sums, nr);
	strbuf_append_str(out, "</section>\n");
}

/* Finds the values of a label and their sums. Samples without the label do not count. */
static int rank(const struct profile *profile, size_t label, struct ranking *ranking)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LABEL_MAX_BYTES);
	const struct label_key key = label_key_of(labels[label].key);
	const struct label_key prefix = label_key_of(labels[label].prefix ? labels[label].prefix
									  : "");
	char number[LABEL_NUMBER_BYTES];

	int r = ranking_init(ranking);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const char *value = sample_label(profile, sample, &key, number);

		if (!*value)
			continue;
		strbuf_clear(&text);
		if (labels[label].prefix)
			strbuf_appendf(&text, "%s/",
				       sample_label(profile, sample, &prefix, number));
		strbuf_append_str(&text, value);
		r = strbuf_error(&text) == -ENOMEM
			    ? -ENOMEM
			    : ranking_add(ranking, strbuf_str(&text), sample->count);
	}
	return r;
}

static void put_ranks(const struct profile *profile, size_t label, const struct ranking *ranking,
		      struct strbuf *out)
{
	struct rank ranks[VALUES_MAX];
	size_t nr = ranking_top(ranking, VALUES_MAX, ranks), nr_values = ranking_size(ranking);
	uint64_t all = profile_total(profile);

	if (nr_values < labels[label].min_values)
		return;
	strbuf_appendf(out,
		       "<section class=\"panel\">\n<h2>%s</h2>\n<table>\n<thead><tr><th "
		       "aria-sort=\"descending\">Time</th><th>Name</th></tr></thead>\n<tbody>\n",
		       labels[label].heading);
	for (size_t i = 0; i < nr; i++) {
		strbuf_append_str(out, "<tr>");
		put_value(profile, ranks[i].count, all, out);
		put_text(out, ranks[i].label);
		strbuf_append_str(out, "</tr>\n");
	}
	strbuf_append_str(out, "</tbody>\n</table>\n");
	put_count(out, "with less", nr_values, nr);
	strbuf_append_str(out, "</section>\n");
}

int page_tables_append_labels(const struct profile *profile, struct strbuf *out)
{
	int r = 0;

	strbuf_append_str(out, "<div class=\"labels\">\n");
	for (size_t i = 0; r == 0 && i < array_len(labels); i++) {
		_cleanup_(ranking_done) struct ranking ranking = { 0 };

		r = rank(profile, i, &ranking);
		if (r == 0)
			put_ranks(profile, i, &ranking, out);
		else if (r == -ENOSPC)
			r = 0;
	}
	strbuf_append_str(out, "</div>\n");
	return r;
}

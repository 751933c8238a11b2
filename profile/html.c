/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page, from top to bottom:
 *
 *	title, origin, notes
 *	totals				cards
 *	flame graph			svg.h; its script finds it by its ids
 *	functions | pods, processes …	tables; page.js sorts and filters them */
#include "profile/html.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "profile/diff_page.h"
#include "profile/embedded.h"
#include "profile/frame_rows.h"
#include "profile/function_table.h"
#include "profile/page_policy.h"
#include "profile/page_tables.h"
#include "profile/page_totals.h"
#include "profile/svg.h"
#include "profile/xml.h"

#include <stdbool.h>
#include <string.h>

static void put_policy(struct strbuf *out, bool is_diff)
{
	const char *const scripts[] = { embedded_flamegraph_js_sha256, embedded_page_js_sha256,
					embedded_flamegraph_diff_js_sha256 };

	page_policy_append(out, scripts, array_len(scripts) - (is_diff ? 0 : 1), NULL);
}

static void put_file(struct strbuf *out, const char *before, const char *file, const char *end,
		     const char *after)
{
	strbuf_append_str(out, before);
	strbuf_append(out, file, (size_t)(end - file));
	strbuf_append_str(out, after);
}

static void put_head(struct strbuf *out, const struct caption *caption, bool is_diff)
{
	strbuf_append_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			       "<meta charset=\"utf-8\">\n");
	put_policy(out, is_diff);
	strbuf_append_str(out, "<meta name=\"viewport\" content=\"width=device-width\">\n"
			       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	xml_append(out, caption->title);
	strbuf_append_str(out, "</title>\n");
	put_file(out, "<style>\n", embedded_flamegraph_css, embedded_flamegraph_css_end, "");
	put_file(out, "", embedded_page_css, embedded_page_css_end, "</style>\n</head>\n");
}

static void put_header(struct strbuf *out, const struct caption *caption)
{
	strbuf_append_str(out, "<body>\n<header>\n<h1>");
	xml_append(out, caption->title);
	strbuf_append_str(out, "</h1>\n<p class=\"origin\">");
	xml_append(out, caption->subtitle);
	strbuf_append_str(out, "</p>\n");
	if (caption->note) {
		strbuf_append_str(out, "<p class=\"note\">");
		xml_append(out, caption->note);
		strbuf_append_str(out, "</p>\n");
	}
	strbuf_append_str(out, "</header>\n<main>\n");
}

static int put_graph(const struct profile *profile, struct strbuf *out)
{
	const struct caption caption = { .title = "Flame graph", .subtitle = "" };

	strbuf_append_str(out, "<section class=\"panel graph\">\n");
	int r = svg_append(profile, &caption, out);
	strbuf_append_str(out, "</section>\n");
	return r;
}

static int put_body(const struct frame_rows *rows, struct strbuf *out)
{
	_cleanup_(function_table_done) struct function_table functions = { 0 };
	int r;

	page_totals_append(rows->profile, out);
	if ((r = function_table_init(&functions, rows)) < 0 ||
	    (r = put_graph(rows->profile, out)) < 0)
		return r;
	strbuf_append_str(out, "<div class=\"tables\">\n");
	page_tables_append_functions(rows, &functions, out);
	r = page_tables_append_labels(rows->profile, out);
	strbuf_append_str(out, "</div>\n");
	return r;
}

static void put_foot(struct strbuf *out)
{
	strbuf_append_str(out, "</main>\n<footer>flamelet " FLAMELET_VERSION "</footer>\n");
	put_file(out, "<script>", embedded_flamegraph_js, embedded_flamegraph_js_end,
		 "</script>\n");
	put_file(out, "<script>", embedded_page_js, embedded_page_js_end,
		 "</script>\n</body>\n</html>\n");
}

static int finish(struct strbuf *out, int r)
{
	put_foot(out);
	if (r == 0)
		r = strbuf_error(out);
	strbuf_fail(out, r);
	return r;
}

int html_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
{
	_cleanup_(frame_rows_done) struct frame_rows rows = { 0 };

	put_head(out, caption, false);
	put_header(out, caption);
	int r = frame_rows_init(&rows, profile);
	if (r == 0)
		r = put_body(&rows, out);
	return finish(out, r);
}

int html_encode_diff(const struct html_diff *page, const struct caption *caption,
		     struct strbuf *out)
{
	const struct caption graph = { .title = "Differential flame graph", .subtitle = "" };

	put_head(out, caption, true);
	put_header(out, caption);
	diff_page_append_totals(page->diff, out);
	strbuf_append_str(out, "<section class=\"panel graph\">\n");
	int r = svg_append_diff(page->shown, &graph, out);
	strbuf_append_str(out, "</section>\n<div class=\"tables changes\">\n");
	diff_page_append_functions(page->diff, page->functions, out);
	diff_page_append_owners(page->diff, page->owners, out);
	strbuf_append_str(out, "</div>\n");
	put_file(out, "<script>", embedded_flamegraph_diff_js, embedded_flamegraph_diff_js_end,
		 "</script>\n");
	return finish(out, r);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a flame tree: one box per node, as wide as its share of the samples, with the root at the
 * bottom.
 *
 *	┌──────────────────────────────┐
 *	│ title, subtitle, legend      │ header
 *	├──────────────────────────────┤
 *	│      ┌────┐                  │
 *	│   ┌──┴────┴──┐ ┌───┐         │ frames
 *	│ ┌─┴──────────┴─┴───┴───────┐ │
 *	└─┴──────────────────────────┴─┘
 *
 * This is what any viewer shows. In a browser, the script replaces these boxes with others from the
 * whole tree (svg_data.h): the part that the user zoomed in to, or the callers of a function. If
 * the picture is higher than the window, the script puts the root at the top, where reading begins.
 *
 * Boxes that are too narrow to be seen are not drawn. If too many remain, the narrowest of them are
 * omitted, too. The subtitle gives the number of omitted boxes. */
#include "profile/svg.h"

#include "base/text.h"
#include "profile/diff_svg.h"
#include "profile/embedded.h"
#include "profile/flame_color.h"
#include "profile/flame_label.h"
#include "profile/flame_source.h"
#include "profile/flame_tree.h"
#include "profile/svg_data.h"
#include "profile/waker_frame.h"
#include "profile/xml.h"

#include <stdbool.h>
#include <string.h>

#define MAX_NODES (1 << 20) /* 64 MB with the index */
#define MAX_BOXES 2000 /* for viewers without scripts; in browsers, the script replaces them */

#define WIDTH_PX 1200
#define MARGIN_PX 10
#define FRAMES_PX (WIDTH_PX - 2 * MARGIN_PX)
#define HEADER_PX 112
#define TITLE_BASELINE_PX 29
#define SUBTITLE_BASELINE_PX 56
#define LEGEND_TOP_PX 66
#define DETAILS_BASELINE_PX 100
#define MAX_BOXES_PER_PX 10 /* so a box is at least 0.1 px wide */

#define LEGEND_TEXT_PX 18
#define LEGEND_CHAR_PX 7
#define LEGEND_GAP_PX 14

/* flamegraph.js has these too. */
#define ROW_PX 18
#define CHAR_PX 7.25
#define LABEL_PAD_PX 4
#define LABEL_BASELINE_PX 13
#define LABEL_MIN_CHARS 3

struct svg {
	const struct profile *profile; /* borrowed */
	const struct flame_tree *tree; /* borrowed */
	const struct diff *diff; /* borrowed; the tree's; NULL: it is not that of a diff */
	struct strbuf *out; /* borrowed */
	uint64_t min_count; /* of a box that is drawn */
	size_t nr_boxes;
	uint32_t max_depth;
	bool has_kind[FLAME_NR_KINDS]; /* in a box that is wide enough to be seen */
	bool has_inlined;
	bool has_stop, has_waker; /* of FLAME_STOP */
};

static bool is_waker(const char *name)
{
	return strncmp(name, WAKER_FRAME_PREFIX, strlen(WAKER_FRAME_PREFIX)) == 0;
}

/* Includes boxes that are omitted only because there are too many, as the script draws them. */
static void find_kinds(struct svg *svg)
{
	for (size_t i = 0; i < svg->tree->nr_nodes; i++) {
		const struct flame_node *node = &svg->tree->nodes[i];

		if (node->count < svg->min_count)
			continue;
		svg->has_kind[node->kind] = true;
		svg->has_inlined |= node->is_inlined;
		if (node->kind == FLAME_STOP && is_waker(node->name))
			svg->has_waker = true;
		else if (node->kind == FLAME_STOP)
			svg->has_stop = true;
	}
}

/* Nodes of a diff that are not there any more have no width. */
static size_t count_boxes(const struct svg *svg)
{
	size_t nr = 0;

	for (size_t i = 0; i < svg->tree->nr_nodes; i++)
		nr += i == 0 || svg->tree->nodes[i].count >= svg->min_count;
	return nr;
}

/* Decides which boxes are drawn. */
static void choose_boxes(struct svg *svg)
{
	const struct flame_tree *tree = svg->tree;

	svg->min_count = tree->nodes[0].count / (WIDTH_PX * MAX_BOXES_PER_PX) + 1;
	find_kinds(svg);
	while ((svg->nr_boxes = count_boxes(svg)) > MAX_BOXES)
		svg->min_count += svg->min_count / 4 + 1;
	for (size_t i = 0; i < tree->nr_nodes; i++)
		if (tree->nodes[i].count >= svg->min_count && tree->nodes[i].depth > svg->max_depth)
			svg->max_depth = tree->nodes[i].depth;
}

static double percent(const struct svg *svg, uint64_t count)
{
	uint64_t total = svg->tree->nodes[0].count;

	return total ? 100.0 * (double)count / (double)total : 100.0;
}

static void put_label(const struct svg *svg, const struct flame_node *node, unsigned int top)
{
	double room_px = FRAMES_PX * percent(svg, node->count) / 100 - 2 * LABEL_PAD_PX;

	if (room_px < LABEL_MIN_CHARS * CHAR_PX)
		return;
	strbuf_appendf(svg->out, "<text x=\"%.5f%%\" dx=\"%d\" y=\"%u\">",
		       percent(svg, node->start), LABEL_PAD_PX, top + LABEL_BASELINE_PX);
	flame_label_append(svg->out, node->name, node->kind, (size_t)(room_px / CHAR_PX));
	strbuf_append_str(svg->out, "</text>");
}

/* Writes the unit of a count: " sample" for 1, else " samples". */
static void put_unit(const struct svg *svg, uint64_t count)
{
	const char *word = profile_type_names(svg->profile->type)->values;

	strbuf_append_char(svg->out, ' ');
	strbuf_append(svg->out, word, strlen(word) - (count == 1));
}

static bool is_time(const struct svg *svg)
{
	return strcmp(profile_type_names(svg->profile->type)->values, "nanoseconds") == 0;
}

/* Writes a count with its unit: "12 samples", "1.33 ms". */
static void put_count(const struct svg *svg, uint64_t count)
{
	if (is_time(svg)) {
		text_append_time(svg->out, count);
		return;
	}
	text_append_count(svg->out, count);
	put_unit(svg, count);
}

static uint32_t number_of(const struct svg *svg, const struct flame_node *node)
{
	return (uint32_t)(node - svg->tree->nodes);
}

static void put_title(const struct svg *svg, const struct flame_node *node)
{
	strbuf_append_str(svg->out, "<title>");
	xml_append(svg->out, node->name);
	strbuf_append_str(svg->out, " (");
	if (svg->diff) {
		diff_svg_append_title(svg->out, svg->diff, number_of(svg, node));
	} else {
		put_count(svg, node->count);
		strbuf_appendf(svg->out, ", %.2f %%", percent(svg, node->count));
	}
	strbuf_append_char(svg->out, ')');
	flame_source_append(svg->out, "\n", svg->profile, node);
	strbuf_append_str(svg->out, "</title>");
}

static void put_box(const struct svg *svg, const struct flame_node *node)
{
	unsigned int top = (svg->max_depth - node->depth) * ROW_PX;
	struct strbuf *out = svg->out;

	strbuf_append_str(out, "<g>");
	put_title(svg, node);
	strbuf_appendf(
		out,
		"<rect class=\"wide\" x=\"%.5f%%\" y=\"%u\" width=\"%.5f%%\" height=\"%d\" fill=\"",
		percent(svg, node->start), top, percent(svg, node->count), ROW_PX - 1);
	if (svg->diff)
		diff_svg_append_color(out, svg->diff, number_of(svg, node));
	else
		flame_color_append(out, node->kind, node->is_inlined, node->name);
	strbuf_append_str(out, "\"/>");
	put_label(svg, node, top);
	strbuf_append_str(out, "</g>\n");
}

static void put_frames(const struct svg *svg)
{
	uint32_t node = 0;

	strbuf_appendf(svg->out,
		       "<svg id=\"frames\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%u\">\n",
		       MARGIN_PX, HEADER_PX, FRAMES_PX, (svg->max_depth + 1) * ROW_PX);
	do {
		if (node == 0 || svg->tree->nodes[node].count >= svg->min_count)
			put_box(svg, &svg->tree->nodes[node]);
		node = flame_tree_next(svg->tree, node, svg->min_count);
	} while (node);
	strbuf_append_str(svg->out, "</svg>\n");
}

static void put_subtitle(const struct svg *svg, const struct caption *caption)
{
	const struct flame_tree *tree = svg->tree;
	size_t nr_left_out = tree->nr_nodes - svg->nr_boxes;

	if (svg->diff) {
		text_append_count(svg->out, tree->nodes[0].before);
		strbuf_append_str(svg->out, " \xe2\x86\x92 ");
	}
	put_count(svg, tree->nodes[0].count);
	strbuf_append_str(svg->out, "<tspan id=\"narrow\">");
	if (nr_left_out > 0) {
		strbuf_append_str(svg->out, " \xc2\xb7 boxes not drawn: ");
		text_append_count(svg->out, nr_left_out);
	}
	strbuf_append_str(svg->out, "</tspan>");
	if (tree->nr_cut > 0) {
		strbuf_append_str(svg->out, " \xc2\xb7");
		put_unit(svg, 0);
		strbuf_append_str(svg->out, " whose upper frames did not fit in this graph: ");
		text_append_count(svg->out, tree->nr_cut);
	}
	if (caption->note) {
		strbuf_append_str(svg->out, " \xc2\xb7 ");
		xml_append(svg->out, caption->note);
	}
	strbuf_append_str(svg->out, *caption->subtitle ? " \xc2\xb7 " : "");
	xml_append(svg->out, caption->subtitle);
}

/* Writes an entry of the legend. Returns the position of the next one. */
static size_t put_legend_entry(const struct svg *svg, enum flame_kind kind, bool is_inlined,
			       size_t x_px)
{
	const char *legend = is_inlined ? "inlined" : flame_color_legend(kind);
	struct strbuf *out = svg->out;

	if (kind == FLAME_STOP && svg->has_waker)
		legend = svg->has_stop ? "waker, truncated stack" : "waker";
	strbuf_appendf(out, "<rect x=\"%zu\" width=\"12\" height=\"12\" rx=\"3\" fill=\"", x_px);
	flame_color_append_legend(out, kind, is_inlined);
	strbuf_appendf(out, "\"/><text x=\"%zu\" y=\"10\">%s</text>\n", x_px + LEGEND_TEXT_PX,
		       legend);
	return x_px + LEGEND_TEXT_PX + strlen(legend) * LEGEND_CHAR_PX + LEGEND_GAP_PX;
}

/* Writes the kinds of code that occur. Inlined functions of any kind are lighter; orange represents
 * them all. */
static void put_kinds(const struct svg *svg)
{
	static const enum flame_kind order[] = {
		FLAME_LABEL, FLAME_PROCESS, FLAME_NATIVE, FLAME_GO,	FLAME_RUST, FLAME_JVM,
		FLAME_V8JS,  FLAME_CPYTHON, FLAME_JIT,	  FLAME_KERNEL, FLAME_STOP,
	};
	size_t x_px = 0;

	for (size_t i = 0; i < array_len(order); i++)
		if (svg->has_kind[order[i]])
			x_px = put_legend_entry(svg, order[i], false, x_px);
	if (svg->has_inlined)
		put_legend_entry(svg, FLAME_NATIVE, true, x_px);
}

static void put_legend(const struct svg *svg)
{
	strbuf_appendf(svg->out, "<g class=\"legend\" transform=\"translate(%d,%d)\">\n", MARGIN_PX,
		       LEGEND_TOP_PX);
	if (svg->diff)
		diff_svg_append_legend(svg->out, svg->diff);
	else
		put_kinds(svg);
	strbuf_append_str(svg->out, "</g>\n");
}

static void put_header(const struct svg *svg, const struct caption *caption)
{
	struct strbuf *out = svg->out;

	strbuf_appendf(out,
		       "<g id=\"header\"><rect class=\"page\" width=\"100%%\" height=\"%d\"/>\n"
		       "<text class=\"title\" x=\"%d\" y=\"%d\">",
		       HEADER_PX - 4, MARGIN_PX, TITLE_BASELINE_PX);
	xml_append(out, caption->title);
	strbuf_appendf(out, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"%d\">", MARGIN_PX,
		       SUBTITLE_BASELINE_PX);
	put_subtitle(svg, caption);
	strbuf_append_str(out, "</text>\n");
	put_legend(svg);
	strbuf_appendf(out, "<text id=\"details\" class=\"details\" x=\"%d\" y=\"%d\"/>\n</g>\n",
		       MARGIN_PX, DETAILS_BASELINE_PX);
}

static void put_script(const struct svg *svg)
{
	strbuf_append_str(svg->out, "<script><![CDATA[\n");
	if (svg->diff)
		strbuf_append(
			svg->out, embedded_flamegraph_diff_js,
			(size_t)(embedded_flamegraph_diff_js_end - embedded_flamegraph_diff_js));
	strbuf_append(svg->out, embedded_flamegraph_js,
		      (size_t)(embedded_flamegraph_js_end - embedded_flamegraph_js));
	strbuf_append_str(svg->out, "]]></script>\n");
}

/* Begins the picture with its title. */
static void put_begin(const struct svg *svg, const struct caption *caption)
{
	unsigned int height_px = HEADER_PX + (svg->max_depth + 1) * ROW_PX + MARGIN_PX;

	strbuf_appendf(svg->out,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		       "viewBox=\"0 0 %d %u\">\n<title>",
		       WIDTH_PX, height_px, WIDTH_PX, height_px);
	xml_append(svg->out, caption->title);
	strbuf_append_str(svg->out, "</title>\n");
}

/* Writes what a style sheet and a script need. The header is last: when it is scrolled along, it
 * covers frames. */
static int put_content(const struct svg *svg, const struct caption *caption)
{
	strbuf_append_str(svg->out, "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
	put_frames(svg);
	put_header(svg, caption);
	return svg_data_append(svg->out, svg->profile, svg->tree, svg->diff);
}

static int put_picture(const struct svg *svg, const struct caption *caption)
{
	put_begin(svg, caption);
	int r = put_content(svg, caption);
	strbuf_append_str(svg->out, "</svg>\n");
	return r;
}

static int put_file(const struct svg *svg, const struct caption *caption)
{
	struct strbuf *out = svg->out;

	strbuf_append_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	put_begin(svg, caption);
	strbuf_append_str(out, "<style><![CDATA[\n");
	strbuf_append(out, embedded_flamegraph_css,
		      (size_t)(embedded_flamegraph_css_end - embedded_flamegraph_css));
	strbuf_append_str(out, "]]></style>\n");
	int r = put_content(svg, caption);
	put_script(svg);
	strbuf_append_str(out, "</svg>\n");
	return r;
}

static int draw(struct svg *svg, const struct caption *caption,
		int (*put)(const struct svg *, const struct caption *))
{
	choose_boxes(svg);
	int r = put(svg, caption);
	if (r == 0)
		r = strbuf_error(svg->out);
	strbuf_fail(svg->out, r);
	return r;
}

static int draw_profile(const struct profile *profile, const struct caption *caption,
			int (*put)(const struct svg *, const struct caption *), struct strbuf *out)
{
	_cleanup_(flame_tree_done) struct flame_tree tree = { 0 };
	struct svg svg = { .profile = profile, .tree = &tree, .out = out };

	int r = flame_tree_init(&tree, profile, MAX_NODES);
	if (r < 0) {
		strbuf_fail(out, r);
		return r;
	}
	return draw(&svg, caption, put);
}

int svg_append(const struct profile *profile, const struct caption *caption, struct strbuf *out)
{
	return draw_profile(profile, caption, put_picture, out);
}

int svg_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
{
	return draw_profile(profile, caption, put_file, out);
}

static int draw_diff(const struct diff *diff, const struct caption *caption,
		     int (*put)(const struct svg *, const struct caption *), struct strbuf *out)
{
	struct svg svg = {
		.profile = diff->after,
		.tree = &diff->tree,
		.diff = diff,
		.out = out,
	};

	return draw(&svg, caption, put);
}

int svg_append_diff(const struct diff *diff, const struct caption *caption, struct strbuf *out)
{
	return draw_diff(diff, caption, put_picture, out);
}

int svg_encode_diff(const struct diff *diff, const struct caption *caption, struct strbuf *out)
{
	return draw_diff(diff, caption, put_file, out);
}

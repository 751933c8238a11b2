/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define COLOR_EXPONENT 0.7
#define PARTIAL_MAX 0.75 /* the strongest colors are for what is new or gone */

#define LEGEND_TEXT_PX 18
#define LEGEND_CHAR_PX 7
#define LEGEND_GAP_PX 14

struct color {
	int red, green, blue;
};

/* flamegraph_diff.js has the same. The colours of a change begin apart from grey, so that a small
 * one is seen. */
static const struct color grey = { 0xe9, 0xea, 0xed };
static const struct color grew[] = { { 0xfd, 0xe2, 0xda }, { 0xe5, 0x53, 0x41 } };
static const struct color shrank[] = { { 0xdb, 0xe9, 0xfb }, { 0x4f, 0x8f, 0xe6 } };

static unsigned int shade(int from, int to, double position)
{
	return (unsigned int)lround(from + (to - from) * position);
}

/* `relative` is from -1 to 1. The exponent makes small changes visible. */
static void append_color(struct strbuf *out, double relative)
{
	const struct color *ends = relative > 0 ? grew : shrank;
	double position = pow(fabs(relative), COLOR_EXPONENT);

	if (fabs(relative) < 1)
		position *= PARTIAL_MAX;
	if (position <= 0) {
		strbuf_appendf(out, "#%02x%02x%02x", (unsigned int)grey.red,
			       (unsigned int)grey.green, (unsigned int)grey.blue);
		return;
	}
	strbuf_appendf(out, "#%02x%02x%02x", shade(ends[0].red, ends[1].red, position),
		       shade(ends[0].green, ends[1].green, position),
		       shade(ends[0].blue, ends[1].blue, position));
}

void diff_svg_append_color(struct strbuf *out, const struct diff *diff, uint32_t node)
{
	diff_svg_append_pair_color(out, diff, diff_node(diff, node));
}

void diff_svg_append_pair_color(struct strbuf *out, const struct diff *diff, struct diff_pair pair)
{
	append_color(out, diff_is_noise(diff, pair) ? 0 : diff_relative(diff, pair));
}

static double percent(uint64_t count, uint64_t total)
{
	return total > 0 ? 100 * (double)count / (double)total : 0;
}

void diff_svg_append_title(struct strbuf *out, const struct diff *diff, uint32_t node)
{
	struct diff_pair pair = diff_node(diff, node), totals = diff_totals(diff);
	double cpus_before = diff_cpus_per_count(diff->before) * (double)pair.before;
	double cpus_after = diff_cpus_per_count(diff->after) * (double)pair.after;

	strbuf_appendf(out, "%.2f %% \xe2\x86\x92 %.2f %%, %+.2f points",
		       percent(pair.before, totals.before), percent(pair.after, totals.after),
		       diff_points(diff, pair));
	if (diff_cpus_per_count(diff->before) > 0 && diff_cpus_per_count(diff->after) > 0)
		strbuf_appendf(out, "; %.3f \xe2\x86\x92 %.3f CPUs", cpus_before, cpus_after);
	strbuf_append_str(out, "; ");
	text_append_count(out, pair.before);
	strbuf_append_str(out, " \xe2\x86\x92 ");
	text_append_count(out, pair.after);
	strbuf_appendf(out, " %s", profile_type_names(diff->after->type)->values);
	if (pair.before == 0)
		strbuf_append_str(out, "; new");
	if (pair.after == 0)
		strbuf_append_str(out, "; gone");
	if (diff_is_noise(diff, pair) && diff->has_noise)
		strbuf_append_str(out, "; within sampling noise");
}

void diff_svg_append_legend(struct strbuf *out, const struct diff *diff)
{
	const struct {
		double relative;
		const char *text;
	} entries[] = {
		{ -1, "gone" },
		{ -0.5, "half" },
		{ -0.1, "-10 %" },
		{ 0, diff->has_noise ? "no change beyond sampling noise" : "no change" },
		{ 1 - 1 / 1.1, "+10 %" },
		{ 0.5, "twice" },
		{ 1, "new" },
	};
	size_t x_px = 0;

	for (size_t i = 0; i < array_len(entries); i++) {
		strbuf_appendf(out,
			       "<rect x=\"%zu\" width=\"12\" height=\"12\" rx=\"3\" "
			       "data-change=\"%.3f\" fill=\"",
			       x_px, entries[i].relative);
		append_color(out, entries[i].relative);
		strbuf_appendf(out, "\"/><text x=\"%zu\" y=\"10\">%s</text>\n",
			       x_px + LEGEND_TEXT_PX, entries[i].text);
		x_px += LEGEND_TEXT_PX + strlen(entries[i].text) * LEGEND_CHAR_PX + LEGEND_GAP_PX;
	}
}

void diff_svg_append_data(struct strbuf *out, const struct diff *diff)
{
	strbuf_appendf(out, "<metadata id=\"diff\">\n%.17g\n%d\n%d\n%.17g %.17g\n</metadata>\n",
		       diff->scale, diff->measure == DIFF_SHARES, diff->has_noise,
		       diff_cpus_per_count(diff->before), diff_cpus_per_count(diff->after));
}

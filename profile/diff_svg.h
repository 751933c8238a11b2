/* SPDX-License-Identifier: Apache-2.0 */
/* What a flame graph of a diff (diff.h) has instead of a plain one: colours that show the change of
 * each box, both shares in its title, and another legend.
 *
 * Boxes are as wide as their share of after. In a browser, flamegraph_diff.js also shows them as
 * wide as their share of before, where stacks are that have vanished, and in other colours. */
#ifndef PROFILE_DIFF_SVG_H
#define PROFILE_DIFF_SVG_H

#include "base/strbuf.h"
#include "profile/diff.h"

#include <stdint.h>

/* Appends the colour of a box: red if it grew and blue if it shrank, stronger for a larger change.
 * Grey: there is no change, or it is noise. */
void diff_svg_append_color(struct strbuf *out, const struct diff *diff, uint32_t node);

/* Appends the colour of a change. */
void diff_svg_append_pair_color(struct strbuf *out, const struct diff *diff, struct diff_pair pair);

/* Appends what the title of a box says behind its name: "12.00 % → 30.10 %, +18.10 points; …". */
void diff_svg_append_title(struct strbuf *out, const struct diff *diff, uint32_t node);

/* Appends the entries of the legend. */
void diff_svg_append_legend(struct strbuf *out, const struct diff *diff);

/* Appends the description of the diff for the script:
 *
 *	<metadata id="diff">
 *	0.5		scale
 *	0		whether shares are compared, not amounts
 *	1		whether there is noise
 *	0.1 0.2		CPUs per count before and after; 0: not known
 *	</metadata> */
void diff_svg_append_data(struct strbuf *out, const struct diff *diff);

#endif

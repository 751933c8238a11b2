/* SPDX-License-Identifier: Apache-2.0 */
/* The flame tree as text inside of an SVG, for the script. With it the script can draw boxes that
 * are too narrow to see until one zooms in, and turn stacks round to show callers.
 *
 *	<metadata id="tree">
 *	sample				what is counted, of one
 *	0				how many nodes are left out, as there are too many
 *	2				functions, four lines each:
 *	#93d6b0				colour
 *	1				kind (enum flame_kind)
 *	nginx				name
 *					source, may be empty
 *	…
 *	0,50,0 1,50,1 			nodes, depth first: function, count, depth
 *	</metadata> */
#ifndef PROFILE_SVG_DATA_H
#define PROFILE_SVG_DATA_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/diff.h"
#include "profile/flame_tree.h"

#define SVG_DATA_MAX_NODES 200000 /* 3 MB; the smallest ones of more are left out */

/* Appends the tree. If it is that of a diff (else NULL), nodes have a fourth number, their count
 * before, and diff_svg.h appends what else there is. Errors: -ENOMEM; others are kept in `out`. */
int svg_data_append(struct strbuf *out, const struct profile *profile,
		    const struct flame_tree *tree, const struct diff *diff) must_check;

#endif

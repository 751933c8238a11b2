/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of a flame graph. They depend on the kind of code and the name only: a function looks
 * the same in every picture, but for being lighter where it is inlined. */
#ifndef PROFILE_FLAME_COLOR_H
#define PROFILE_FLAME_COLOR_H

#include "base/strbuf.h"
#include "profile/flame_tree.h"

#include <stdbool.h>

/* Appends the colour of a box, as "#f9a86f". */
void flame_color_append(struct strbuf *out, enum flame_kind kind, bool is_inlined,
			const char *name);

/* Appends the color that the legend shows for the kind. */
void flame_color_append_legend(struct strbuf *out, enum flame_kind kind, bool is_inlined);

/* Returns the kind's name in the legend; NULL if the legend does not have it. */
const char *flame_color_legend(enum flame_kind kind);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Colours and other attributes of a terminal. NO_COLOR only switches colours off. */
#ifndef TOP_COLOR_H
#define TOP_COLOR_H

#include "base/strbuf.h"
#include "profile/cpu_split.h"
#include "top/cells.h"

#define COLOR_APPLICATION "\033[33m"
#define COLOR_KERNEL "\033[94m"
#define COLOR_IRQ "\033[35m"
#define COLOR_SOFTIRQ "\033[36m"
#define COLOR_WARNING "\033[31m"
#define ATTRIBUTE_BOLD "\033[1m"
#define ATTRIBUTE_REVERSE "\033[7m"
#define ATTRIBUTE_NONE "\033[0m"

static inline void color_begin(struct strbuf *out, const struct cells_style *style,
			       const char *color)
{
	if (style->has_color)
		strbuf_append_str(out, color);
}

static inline void color_end(struct strbuf *out, const struct cells_style *style)
{
	color_begin(out, style, ATTRIBUTE_NONE);
}

/* Returns the colour of a side. */
static inline const char *color_of_side(enum cpu_side side)
{
	static const char *const colors[] = {
		[CPU_APPLICATION] = COLOR_APPLICATION,
		[CPU_KERNEL] = COLOR_KERNEL,
		[CPU_IRQ] = COLOR_IRQ,
		[CPU_SOFTIRQ] = COLOR_SOFTIRQ,
	};

	return colors[side];
}

#endif

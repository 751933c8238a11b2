/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in sorted items. */
#ifndef BASE_SEARCH_H
#define BASE_SEARCH_H

#include <stddef.h>

/* The number of items that come before the place that is looked for, which is also the index of the
 * first item behind it. There are `nr` items in all. `is_before` is an expression of the index `i`:
 * it is true for the items before that place and false for all that follow. For example, the number
 * of functions that start at or below an address:
 *
 *	search_count(nr_functions, i, functions[i].start <= address) */
#define search_count(nr, i, is_before)                                                             \
	({                                                                                         \
		size_t search_low_ = 0, search_high_ = (nr);                                       \
                                                                                                   \
		while (search_low_ < search_high_) {                                               \
			size_t i = search_low_ + (search_high_ - search_low_) / 2;                 \
                                                                                                   \
			if (is_before)                                                             \
				search_low_ = i + 1;                                               \
			else                                                                       \
				search_high_ = i;                                                  \
		}                                                                                  \
		search_low_;                                                                       \
	})

#endif

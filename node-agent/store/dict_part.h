/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the newest rows out of a dictionary, of which some are added again. */
#ifndef STORE_DICT_PART_H
#define STORE_DICT_PART_H

#include "base/cleanup.h"
#include "base/err.h"
#include "store/dict.h"

#include <stdint.h>

struct dict_part;

/* Removes all rows since the mark from the dictionary. Errors: -ENOMEM; then nothing changes. */
int dict_part_cut(struct dict *dict, const struct dict_mark *since, struct dict_part **ret_part)
	must_check;
void dict_part_free(struct dict_part *part);
DEFINE_FREEP(struct dict_part, dict_part_free)

/* Adds a row again that had the number `old`, and all rows that it refers to; returns its new
 * number. A row that was not cut keeps its number. Errors: -ENOSPC, -ENOMEM. */
int dict_part_restore(struct dict_part *part, enum dict_table table, uint32_t old,
		      uint32_t *ret_new) must_check;

/* Makes dict_part_restore() return another row's new number for a row, instead of adding it. */
void dict_part_replace(struct dict_part *part, enum dict_table table, uint32_t old, uint32_t new);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a dictionary as bytes: the rows that were added since a mark. Decoding all parts in
 * their order gives each row the same number. docs/record.md describes the bytes. */
#ifndef STORE_DICT_CODE_H
#define STORE_DICT_CODE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/dict.h"

#include <stdbool.h>
#include <stddef.h>

/* The form of a part depends on the version of its file. */
enum dict_form {
	DICT_FORM_WITHOUT_REASONS, /* of label sets */
	DICT_FORM_PRESENT,
};

/* Appends all rows since the mark. A head stands for itself: it is removed before the next part is
 * written, which continues from the last one that was no head. Failures are kept in `out`. */
void dict_encode(struct dict *dict, const struct dict_mark *since, bool is_head,
		 struct strbuf *out);

/* Adds the rows of an encoded part. They can only be read from then on: dict_add() does not find
 * them. Adds nothing on failure. Errors: -EBADMSG damaged, -ENOSPC, -ENOMEM. */
int dict_decode(struct dict *dict, enum dict_form form, bool is_head, const void *data, size_t len)
	must_check;

#endif

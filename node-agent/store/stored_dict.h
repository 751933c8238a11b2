/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the compressed data of a file of the record, and its dictionaries. */
#ifndef STORE_STORED_DICT_H
#define STORE_STORED_DICT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "base/zstd.h"
#include "store/dict.h"
#include "store/store_file.h"

#include <stddef.h>

/* Decompresses data into `plain`, in the place of its content. Errors: -EBADMSG damaged,
 * -ENOMEM. */
int stored_unpack(struct zstd_unpacker *unpacker, const void *data, size_t len,
		  struct strbuf *plain) must_check;

/* Reads a dictionary of a file into one that dict_init() made. On failure, part of it may be in.
 * Errors: -EBADMSG damaged or too large, those of store_file.h. */
int stored_dict_read(struct store_file *file, enum store_dict which, struct dict *dict) must_check;

/* Where the parts of a dictionary end that are not of heads. */
struct stored_dict_end {
	uint64_t number; /* of the last part; 0: none was read */
	struct dict_mark rows; /* with that part */
};

/* Reads the parts behind *end, which moves on, up to the number `last`. The dictionary must have
 * the rows that it had at *end. Errors: as above. */
int stored_dict_continue(struct store_file *file, enum store_dict which, uint64_t last,
			 struct dict *dict, struct stored_dict_end *end) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the decoded dictionaries of the files that were read last, because decoding one takes much
 * longer than reading the samples of some minutes. If a file is still being written, only its new
 * parts are decoded. */
#ifndef STORE_DICT_CACHE_H
#define STORE_DICT_CACHE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "store/dict.h"
#include "store/store_file.h"

#include <stddef.h>

struct dict_cache;

/* The limit is that of all dictionaries together; the one that is in use may exceed it. Errors:
 * -ENOMEM. */
int dict_cache_new(size_t max_bytes, struct dict_cache **ret_cache) must_check;
void dict_cache_free(struct dict_cache *cache); /* NULL is fine */

/* Returns the dictionary of the samples of a file, as of the transaction that is open, at least up
 * to the part with the number `last`. It is borrowed until the next call for the same file, or the
 * second one for other files. Rows may be added to it: the next call for the file removes them.
 * Errors: -EBADMSG damaged or too large, those of store_file.h. */
int dict_cache_get(struct dict_cache *cache, struct store_file *file, const char *path,
		   uint64_t last, struct dict **ret_dict) must_check;

#endif

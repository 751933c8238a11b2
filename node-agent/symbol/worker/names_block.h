/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a request to demangle names, and of its reply (SYMBOL_REQUEST_NAMES):
 *
 *	struct names_header
 *	names [nr_names]	each NUL-terminated, nothing between
 *
 * in host byte order. The reply has the names in the order of the request; "" means that a name
 * stays as it is. The reply may end early: when its room or time is used up, or with a name that
 * took too long. Each side checks what the other one sends. */
#ifndef SYMBOL_WORKER_NAMES_BLOCK_H
#define SYMBOL_WORKER_NAMES_BLOCK_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX 512 /* names in a request */
#define NAMES_MAX_BYTES ((size_t)64 << 10) /* of these names with their NULs */
#define NAMES_MAX_REPLY_BYTES ((size_t)256 << 10) /* with the header */

struct names_header {
	uint32_t nr_names;
	uint32_t detail; /* request: enum demangle_style; reply: enum names_end */
};

/* The reason why a reply ends. */
enum names_end {
	NAMES_ALL, /* it has all names, or its room is used up */
	NAMES_LATE, /* its time is used up */
	NAMES_GIVEN_UP, /* the last name took too long, and stays as it is */
};

/* A block that was checked. */
struct names_block {
	uint32_t nr_names;
	uint32_t detail;
	const char *first; /* borrowed */
};

/* Returns the name that follows another one of the same block. */
const char *names_block_next(const char *name);

/* Checks a block. `bytes` must outlive the result. Errors: -EBADMSG if there is no name or more
 * than `max_names`, a name is longer than DEMANGLE_MAX_BYTES, the last name does not end the block,
 * or the detail is over `max_detail`. */
int names_block_parse(const void *bytes, size_t len, uint32_t max_names, uint32_t max_detail,
		      struct names_block *ret_block) must_check;

#endif

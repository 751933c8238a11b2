/* SPDX-License-Identifier: Apache-2.0 */
/* Names on their way to be demangled, and back (SYMBOL_REQUEST_NAMES):
 *
 *	struct names_header
 *	names [nr_names]	each NUL-terminated, nothing between
 *
 * in host byte order. Names of the answer are in the order of the request; "" says that a name
 * stays as it is. The answer may end early: when its room or its time is used up, or with a name
 * that took too long. Neither end believes the other. */
#ifndef SYMBOL_WORKER_NAMES_BLOCK_H
#define SYMBOL_WORKER_NAMES_BLOCK_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX 512 /* of a request */
#define NAMES_MAX_BYTES ((size_t)64 << 10) /* of a request, with their NULs */
#define NAMES_MAX_REPLY_BYTES ((size_t)256 << 10) /* of an answer, with the header */

struct names_header {
	uint32_t nr_names;
	uint32_t detail; /* request: enum demangle_style; answer: enum names_end */
};

/* Why an answer ends where it does. */
enum names_end {
	NAMES_ALL, /* or its room is used up */
	NAMES_LATE, /* its time is used up */
	NAMES_GIVEN_UP, /* the last one took too long, and stays as it is */
};

/* A block that was checked. */
struct names_block {
	uint32_t nr_names;
	uint32_t detail;
	const char *first; /* borrowed */
};

/* The name behind another one of the same block. */
const char *names_block_next(const char *name);

/* `bytes` must outlive the result. Errors: -EBADMSG no name or more than `max_names`, a name over
 * DEMANGLE_MAX_BYTES, names that do not end with the block, a detail over `max_detail`. */
int names_block_parse(const void *bytes, size_t len, uint32_t max_names, uint32_t max_detail,
		      struct names_block *ret_block) must_check;

#endif

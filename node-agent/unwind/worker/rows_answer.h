/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the replies of the rows worker as hostile input, because it has read files that may be
 * made to take it over. */
#ifndef UNWIND_WORKER_ROWS_ANSWER_H
#define UNWIND_WORKER_ROWS_ANSWER_H

#include "base/err.h"
#include "unwind/worker/rows_worker.h"

#include <stddef.h>

/* Maps an error of a worker, or of worker_client_wait(), to one that a file may have: -ENODATA,
 * -EBADMSG, -ENOSPC, -ENOMEM, -ETIMEDOUT; else -EIO. */
int rows_answer_error(int error);

/* Reads a key. Errors: -EIO not a reply. */
int rows_answer_key(const void *bytes, size_t len, struct rows_key_reply *ret_reply) must_check;

/* Reads a table of at most `max_bytes`. `bytes` are from malloc(3), and become those of the
 * table unless this fails. Errors: -EIO not a reply, or not a table. */
int rows_answer_table(void *bytes, size_t len, size_t max_bytes, struct row_table_bytes *ret_table,
		      struct unwind_losses *ret_losses) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows worker answers, checked as if it were hostile: it has read files made to take it
 * over. */
#ifndef UNWIND_WORKER_ROWS_ANSWER_H
#define UNWIND_WORKER_ROWS_ANSWER_H

#include "base/err.h"
#include "unwind/worker/rows_worker.h"

#include <stddef.h>

/* An error as a worker, or worker_client_wait(), has told it, as one that a file may have:
 * -ENODATA, -EBADMSG, -ENOSPC, -ENOMEM, -ETIMEDOUT; else -EIO. */
int rows_answer_error(int error);

/* Errors: -EIO not a reply. */
int rows_answer_key(const void *bytes, size_t len, struct rows_key_reply *ret_reply) must_check;

/* The table in a reply, of `max_bytes` at most. `bytes` are from malloc(3), and become the
 * table's unless this fails.
 * Errors: -EIO not a reply, or not a table. */
int rows_answer_table(void *bytes, size_t len, size_t max_bytes, struct row_table_bytes *ret_table,
		      struct unwind_losses *ret_losses) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The process that makes unwind tables of foreign files (elf_rows.h) for the agent, and how both
 * talk:
 *
 *	agent: rows_client ──request, descriptors──▶ worker: rows_worker_main()
 *	                   ◀──────reply─────────────
 *
 * It is `flamelet rows-worker`, as worker/worker_server.h has it: without privileges, without
 * any file but those handed to it, bounded in memory and in time. A file takes one request or
 * two:
 *
 *	ROWS_REQUEST_KEY	what does its table depend on? Often the agent has that table already
 *	ROWS_REQUEST_BUILD	make it. The worker still has what it read */
#ifndef UNWIND_WORKER_ROWS_WORKER_H
#define UNWIND_WORKER_ROWS_WORKER_H

#include "unwind/file/elf_rows.h"

#include <stddef.h>
#include <stdint.h>

#define ROWS_WORKER_COMMAND "rows-worker" /* argv[1] */

enum rows_request_kind {
	/* The request's key is a number of this file. fds: the file; and its debug file, as
	 * struct rows_ask says. Behind it: struct rows_ask. Reply: struct rows_key_reply.
	 * Errors: those of elf_rows_open(), but -ENOEXEC in place of -EBADMSG, which on this way
	 * means that a worker is mad. */
	ROWS_REQUEST_KEY,
	/* With the same key. No fds. Reply: the table, and behind it struct unwind_losses.
	 * Errors: those of elf_rows_build(); -EINVAL it is not the last one that was asked
	 * about. */
	ROWS_REQUEST_BUILD,
};

struct rows_ask {
	uint64_t max_table_bytes;
	uint64_t max_held_bytes; /* as in struct elf_rows_opts */
	uint64_t hash_seed;
	uint64_t debug; /* enum elf_rows_debug */
};

struct rows_key_reply {
	uint32_t wants_debug; /* 1: a debug file, by `wanted`; else 0, and `key` is set */
	struct elf_rows_wanted wanted;
	struct elf_rows_key key;
};

/* Runs the command. Returns the exit status. */
int rows_worker_main(void);

#endif

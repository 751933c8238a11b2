/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads foreign ELF and DWARF files for the agent:
 *
 *	agent: worker_client ──request, descriptors──▶ worker: symbol_worker_main()
 *	                     ◀──────reply─────────────
 *
 * A container can craft a file that crashes its reader or keeps it busy, and libdw was not written
 * for such files. So the worker is a process of its own, `flamelet symbol-worker`. It has no
 * privileges and no files but those that it receives, and its memory and system calls are limited
 * (worker/worker_sandbox.h). If an answer takes too long, the client kills it and starts another
 * one.
 *
 * The key of a request identifies the file: all requests about a file have the same key, so that
 * the worker opens its debug information only once. A key is never 0.
 *
 * A worker serves the files of all containers. A file that takes control of the worker can falsify
 * the answers about other files until that worker ends: it can give wrong names, or call a file a
 * copy of another one. It also learns the seed of fingerprints, and which files are mapped. It can
 * write nothing but its answers. */
#ifndef SYMBOL_WORKER_SYMBOL_WORKER_H
#define SYMBOL_WORKER_SYMBOL_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "symbol/worker/names_block.h"
#include "worker/worker_channel.h"

#define SYMBOL_WORKER_COMMAND "symbol-worker" /* argv[1] */
#define SYMBOL_REQUEST_MAX_BYTES (NAMES_MAX_BYTES + sizeof(struct names_header))

enum symbol_request_kind {
	/* The functions of an ELF file. fds: the file. Reply: a block (elf_block.h). */
	SYMBOL_REQUEST_TABLE,
	/* Inlined functions and source lines. fds: the file with the debug information; and, if
	 * that refers to one (.gnu_debugaltlink), its supplementary file. Bytes: virtual addresses,
	 * uint64_t each. Reply: the units that contain them (lines_unit.h). */
	SYMBOL_REQUEST_LINES,
	/* The CRC-32 of a whole file, as in .gnu_debuglink. fds: the file. Reply: uint32_t. */
	SYMBOL_REQUEST_CRC,
	/* The fingerprint of a file, by which copies are recognized. fds: the file, and perhaps a
	 * second one, which is part of it then. Bytes: struct elf_fingerprint_opts. Reply: struct
	 * elf_fingerprint (elf_fingerprint.h). */
	SYMBOL_REQUEST_FINGERPRINT,
	/* Demangled names. No fds. Bytes and reply: a names block (names_block.h). */
	SYMBOL_REQUEST_NAMES,
};

/* Implements the command `flamelet symbol-worker`: drops privileges, and answers until the socket
 * is closed. Returns the exit status. */
int symbol_worker_main(void);

/* Prepares the process for SYMBOL_REQUEST_NAMES; must be called before it enters its sandbox.
 * Errors: those of sigaction(2). */
int symbol_worker_prepare_names(void) must_check;

/* Answers one request. `reply` is empty, and bounded by the request's max_bytes. `data` is not
 * used. Errors: any; the reply reports them. */
int symbol_worker_answer(struct worker_call *call, struct strbuf *reply, void *data) must_check;

/* Answers a SYMBOL_REQUEST_LINES, in which there is at least one descriptor. */
int symbol_worker_lines(const struct worker_call *call, struct strbuf *reply) must_check;

/* Answers a SYMBOL_REQUEST_NAMES. If a name takes too long, sends the reply itself, as the last
 * one, and ends the process. */
int symbol_worker_names(const struct worker_call *call, struct strbuf *reply) must_check;

#endif

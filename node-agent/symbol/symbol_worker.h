/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads foreign ELF and DWARF files for the agent, and how the agent talks to it.
 *
 *	agent: symbol_client ──request, descriptors──▶ worker: symbol_worker_main()
 *	                     ◀──────reply─────────────
 *
 * Files of containers may be made to break or to hold up whoever reads them, and libdw was not written for
 * such. So the worker is a process of its own, `flamelet symbol-worker`: without privileges, without any file
 * but those handed to it, bounded in memory and in what it may ask the kernel for (worker_sandbox.h); the client
 * kills it when an answer takes too long, and starts another one.
 *
 * Both ends are the same program, so the messages are structs in host byte order. Requests and replies
 * alternate, over a SOCK_STREAM socket pair; the worker ends when the socket is closed. */
#ifndef SYMBOL_SYMBOL_WORKER_H
#define SYMBOL_SYMBOL_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "symbol/worker_process.h"

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_WORKER_COMMAND "symbol-worker" /* argv[1] */
#define SYMBOL_WORKER_SOCKET_FD WORKER_PROCESS_SOCKET_FD
#define SYMBOL_REQUEST_MAX_FDS 2
#define SYMBOL_REQUEST_MAX_ADDRESSES 4096

enum symbol_request_kind {
	/* The functions of an ELF file. fds: the file. Reply: an elf_symbols block (elf_symbols.h). */
	SYMBOL_REQUEST_TABLE,
	/* Inlined functions and source lines. fds: the file with the debug information; and, if that refers
	 * to one (.gnu_debugaltlink), its supplementary file. Reply: a lines block (lines_block.h). */
	SYMBOL_REQUEST_LINES,
	/* The CRC-32 of a whole file, as .gnu_debuglink has it. fds: the file. Reply: uint32_t. */
	SYMBOL_REQUEST_CRC,
};

struct symbol_request {
	uint32_t kind;
	uint32_t nr_addresses; /* virtual addresses; uint64_t each, behind this struct */
	/* Of the file: the same in each request about it, so that the worker need not open its debug
	 * information again; never 0. */
	uint64_t key;
	uint64_t max_bytes; /* of the reply */
};

struct symbol_reply {
	int32_t error; /* 0 or negative errno; then nothing follows */
	uint32_t nr_bytes; /* behind this struct */
	/* 1: the worker ends now, to give its memory back; the next request is for a new one. */
	uint32_t is_last;
};

/* What the command `flamelet symbol-worker` does: drops what it does not need, then answers until the socket
 * is closed. Returns the exit status. */
int symbol_worker_main(void);

/* The answers, one function a kind; `reply` is empty and bounded by max_bytes. Descriptors are borrowed.
 * Errors: any; they become the reply's. */
int symbol_worker_table(const struct symbol_request *request, const int *fds, size_t nr_fds,
			struct strbuf *reply) must_check;
int symbol_worker_lines(const struct symbol_request *request, const uint64_t *addresses,
			const int *fds, size_t nr_fds, struct strbuf *reply) must_check;
int symbol_worker_crc(const int *fds, size_t nr_fds, struct strbuf *reply) must_check;

#endif

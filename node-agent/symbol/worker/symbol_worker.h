/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads foreign ELF and DWARF files for the agent:
 *
 *	agent: worker_client ──request, descriptors──▶ worker: symbol_worker_main()
 *	                     ◀──────reply─────────────
 *
 * Files of containers may be made to break or to hold up whoever reads them, and libdw was not
 * written for such. So the worker is a process of its own, `flamelet symbol-worker`: without
 * privileges, without any file but those handed to it, bounded in memory and in what it may
 * ask the kernel for (worker/worker_sandbox.h); the client kills it when an answer takes too
 * long, and starts another one.
 *
 * A request's key is the file's: the same in each request about it, so that the worker need not
 * open its debug information again; never 0.
 *
 * A worker serves the files of all containers. What one of them can make it do, it can do to the
 * names of the others that are read after it, until that worker ends: give them false names, or
 * call one file a copy of another. It learns the seed of fingerprints and what is mapped. It cannot
 * write anywhere but into its answers. */
#ifndef SYMBOL_WORKER_SYMBOL_WORKER_H
#define SYMBOL_WORKER_SYMBOL_WORKER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "symbol/worker/names_block.h"
#include "worker/worker_channel.h"

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_WORKER_COMMAND "symbol-worker" /* argv[1] */
#define SYMBOL_REQUEST_MAX_ADDRESSES 4096
#define SYMBOL_REQUEST_MAX_BYTES (NAMES_MAX_BYTES + sizeof(struct names_header))

enum symbol_request_kind {
	/* The functions of an ELF file. fds: the file. Reply: an elf_symbols block
	 * (elf_symbols.h). */
	SYMBOL_REQUEST_TABLE,
	/* Inlined functions and source lines. fds: the file with the debug information; and, if
	 * that refers to one (.gnu_debugaltlink), its supplementary file. Bytes: virtual addresses,
	 * uint64_t each. Reply: the units they are in (lines_unit.h). */
	SYMBOL_REQUEST_LINES,
	/* The CRC-32 of a whole file, as .gnu_debuglink has it. fds: the file. Reply: uint32_t. */
	SYMBOL_REQUEST_CRC,
	/* What tells whether a file is a copy of another. fds: the file; and, if that counts
	 * as well, another one. Bytes: struct elf_fingerprint_opts. Reply: struct
	 * elf_fingerprint (elf_fingerprint.h). */
	SYMBOL_REQUEST_FINGERPRINT,
	/* Demangled names. No fds. Bytes and reply: a names block (names_block.h). */
	SYMBOL_REQUEST_NAMES,
};

/* What the command `flamelet symbol-worker` does: drops what it does not need, then answers until
 * the socket is closed. Returns the exit status. */
int symbol_worker_main(void);

/* Before a process may answer SYMBOL_REQUEST_NAMES, and before it enters its sandbox.
 * Errors: what sigaction(2) says. */
int symbol_worker_prepare_names(void) must_check;

/* The answers, one function a kind; the call has a descriptor unless its kind has none, and `reply`
 * is empty and bounded by max_bytes. Errors: any; they become the reply's. */
int symbol_worker_table(const struct worker_call *call, struct strbuf *reply) must_check;
int symbol_worker_lines(const struct worker_call *call, struct strbuf *reply) must_check;
int symbol_worker_crc(const struct worker_call *call, struct strbuf *reply) must_check;
int symbol_worker_fingerprint(const struct worker_call *call, struct strbuf *reply) must_check;

/* With a name that takes too long it sends the answer itself, as the last
 * one, and ends the process. */
int symbol_worker_names(const struct worker_call *call, struct strbuf *reply) must_check;

#endif

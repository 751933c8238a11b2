/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between the agent and `flamelet debuginfod-worker`, over a SOCK_STREAM socket pair.
 * Both are the same program, so the messages are structs in host byte order. Requests are answered
 * in their order. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_PROTOCOL_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_PROTOCOL_H

#include "elf/build_id.h"

#include <stdint.h>

struct debuginfod_request {
	char build_id[BUILD_ID_MAX_DIGITS + 8]; /* NUL-terminated */
	uint64_t max_cache_bytes;
	uint64_t max_file_bytes;
	uint64_t timeout_ns;
};

struct debuginfod_reply {
	/* 0: the descriptor of the file is attached. -ENOENT: no server has it. Others: a
	 * failure. */
	int32_t error;
};

#endif

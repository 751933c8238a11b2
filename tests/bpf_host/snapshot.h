/* SPDX-License-Identifier: Apache-2.0 */
/* Reads recorded snapshots (tests/fixtures/unwind/README.md), one at a time, into the fake
 * kernel's memory. */
#ifndef TESTS_BPF_HOST_SNAPSHOT_H
#define TESTS_BPF_HOST_SNAPSHOT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "bpf/shared/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_MAX_BYTES ((size_t)1 << 20) /* of a recording */
#define SNAPSHOT_MAX_FILES 16
#define SNAPSHOT_MAX_CODE 32
#define SNAPSHOT_MAX_LINES 4096
#define SNAPSHOT_MAX_FRAMES 128
#define SNAPSHOT_LINE_BYTES 32

struct snapshot_file {
	uint64_t delta; /* virtual address - file offset */
	uint64_t eh_frame_address;
	struct strbuf eh_frame;
};

struct snapshot_code {
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint64_t slot; /* index of the file + 1 */
};

struct snapshot_line {
	uint64_t address;
	uint8_t data[SNAPSHOT_LINE_BYTES];
};

struct snapshots {
	struct strbuf text;
	const char *cursor;
	unsigned int line;

	struct snapshot_file files[SNAPSHOT_MAX_FILES];
	size_t nr_files;
	struct snapshot_code code[SNAPSHOT_MAX_CODE]; /* ascending */
	size_t nr_code;

	/* The snapshot that was read last. */
	struct snapshot_line lines[SNAPSHOT_MAX_LINES];
	size_t nr_lines;
	uint64_t regs[NR_REGS + 1]; /* the last one is the instruction pointer */
	uint64_t frames[SNAPSHOT_MAX_FRAMES];
	size_t nr_frames;
	bool is_open; /* there may be more frames, and any result */
	unsigned int result; /* else: enum unwind_result */
	bool is_complete;
};

/* Opens a recording; snapshots_done() frees it, also after a failure. Errors: what
 * file_read_at() says. */
int snapshots_open(struct snapshots *snapshots, const char *path) must_check;
void snapshots_done(struct snapshots *snapshots);

/* Reads the next snapshot, before the first one files and code: 1, or 0 at the end. Errors:
 * -EBADMSG (`line` says where), -ENOSPC over a limit. */
int snapshots_next(struct snapshots *snapshots) must_check;

#endif

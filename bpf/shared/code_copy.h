/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for copies of code objects. The sampler copies what names a function of CPython when
 * it meets the function in a young process for the first time: the process may have ended before
 * the agent could read its memory, and reading the memory of many processes costs more.
 *
 * A copy is a record of the ring buffer before the first sample that needs it. It begins with 0,
 * where a sample has its time, and is cut behind its line table. */
#ifndef BPF_SHARED_CODE_COPY_H
#define BPF_SHARED_CODE_COPY_H

#include <linux/types.h>

/* The parts are objects of CPython, and begin with their headers. */
#define CODE_COPY_OBJECT_BYTES 192 /* the code object: all fields that are read have room */
#define CODE_COPY_FILENAME_BYTES 256
#define CODE_COPY_NAME_BYTES 192
#define CODE_COPY_LINES_BYTES 4096
#define CODE_COPY_BYTES_HEADER 48 /* of a bytes object; smaller in builds with a GIL */

enum code_copy_part {
	CODE_COPY_OBJECT,
	CODE_COPY_FILENAME,
	CODE_COPY_NAME,
	CODE_COPY_LINES,
	CODE_COPY_NR_PARTS,
};

struct code_copy {
	__u64 no_time; /* 0 */
	__u64 start_ns; /* this and the next two: of the process, as in struct sample_event */
	__u64 cgroup_id;
	__u32 pid;
	__u16 check; /* that the tags of the code object's frames have */
	__u16 nr_line_bytes; /* of `lines` */
	__u64 addresses[CODE_COPY_NR_PARTS]; /* in the process; of the code object as in frames */
	__u8 object[CODE_COPY_OBJECT_BYTES];
	__u8 filename[CODE_COPY_FILENAME_BYTES];
	__u8 name[CODE_COPY_NAME_BYTES];
	__u8 lines[CODE_COPY_LINES_BYTES];
};

_Static_assert(sizeof(struct code_copy) == 64 + 192 + 256 + 192 + 4096, "no hidden padding");

#endif

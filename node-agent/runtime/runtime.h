/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that read a language runtime, for each one that is known. They run in a worker
 * (runtime/worker): its input is the bytes of files and of processes' memory, which are hostile.
 *
 *	read_file	an ELF file ─▶ struct runtime_file: is it a runtime, and which one
 *	inspect		its mapping in a process ─▶ struct runtime_found: how to unwind and to name its frames
 *	name		words of a sample ─▶ function, file and line */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include "base/err.h"
#include "bpf/shared/runtime.h"
#include "elf/elf_exports.h"
#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdint.h>

#define RUNTIME_FILE_VALUES 96
#define RUNTIME_NAMING_VALUES 128
#define RUNTIME_REASON_BYTES 96

/* The values that are found by the exported symbols of a file. Each runtime gives them a meaning:
 * virtual addresses of symbols, or constants read from the file; 0: not there. */
struct runtime_file {
	uint32_t kind; /* enum runtime_kind */
	uint32_t version; /* major << 24 | minor << 16 | patch << 8; 0: not in the file */
	uint64_t values[RUNTIME_FILE_VALUES];
};

enum runtime_state {
	RUNTIME_READY,
	RUNTIME_PENDING, /* it has not started yet: inspect it again soon */
	RUNTIME_UNSUPPORTED,
	RUNTIME_NR_STATES,
};

/* The values of a runtime in a process. */
struct runtime_found {
	uint32_t state; /* enum runtime_state */
	uint32_t version;
	/* For the unwinder. The same for all processes of the file if is_shared. */
	struct runtime_layout layout;
	struct runtime_process process;
	uint8_t is_shared; /* the layout serves other processes that map the file as well */
	uint8_t is_likely; /* if it is shared: not all of them; each is inspected as well */
	uint8_t has_process; /* the unwinder needs `process` */
	uint8_t is_marked; /* unsupported; the unwinder says so in stacks, by the layout */
	uint8_t pad[4];
	/* For name(): offsets and the like, by runtime. */
	uint64_t naming[RUNTIME_NAMING_VALUES];
	/* Why it is unsupported, or what is not as usual; one phrase for people, or "". */
	char reason[RUNTIME_REASON_BYTES];
};

struct runtime_ops {
	uint32_t kind; /* enum runtime_kind */
	const char *label; /* as in --runtimes */
	/* Returns 1 and the file's values if it is such a runtime, else 0. Errors: those of the
	 * exports. */
	int (*read_file)(struct elf_exports *exports, struct runtime_file *ret_file);
	/* Inspects a process that maps the file; `bias` is the difference between its addresses
	 * and the virtual addresses of the file. Errors: those of process_memory_read(), if the
	 * process cannot be read at all. */
	int (*inspect)(struct process_memory *memory, const struct runtime_file *file,
		       uint64_t bias, struct runtime_found *ret_found);
	/* Names a frame: adds its lines to the writer, which has begun it. `words` begin with the
	 * tag. Adds none if the memory no longer holds what the tag says. Errors: -ENOENT there is
	 * nothing to name; those of process_memory_read(). */
	int (*name)(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
		    struct frame_writer *writer);
};

extern const struct runtime_ops cpython_runtime;
extern const struct runtime_ops hotspot_runtime;
extern const struct runtime_ops v8_runtime;

#endif

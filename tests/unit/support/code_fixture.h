/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose code is of all kinds, in a directory like /proc, and what it takes to locate and
 * name its addresses. The program it maps is the test program itself, as a whole, at
 * CODE_PROGRAM. */
#ifndef TESTS_UNIT_CODE_FIXTURE_H
#define TESTS_UNIT_CODE_FIXTURE_H

#include "pipeline/locate.h"
#include "proc_fixture.h"

#include <stdint.h>

#define CODE_PID 7
#define CODE_FORKED_PID 8 /* maps the program too, at CODE_PROGRAM_FORKED */
#define CODE_NOW UINT64_C(2000000000000)

#define CODE_PROGRAM UINT64_C(0x10000000)
#define CODE_PROGRAM_END UINT64_C(0x20000000)
#define CODE_PROGRAM_FORKED UINT64_C(0x7f0000000000)
#define CODE_DATA UINT64_C(0x20000000)
#define CODE_ANON UINT64_C(0x30000000)
#define CODE_JIT UINT64_C(0x40000000) /* "[anon:js/code]" */
#define CODE_MISSING UINT64_C(0x50000000) /* "/opt/gone.so", from offset 0x3000 */
#define CODE_SOCKET UINT64_C(0x60000000) /* "/dev/odd": no regular file */
#define CODE_MEMFD UINT64_C(0x68000000) /* "/memfd:doublemapper (deleted)": no ELF file */
#define CODE_VDSO UINT64_C(0x70000000)

struct code_fixture {
	struct proc_fixture proc;
	struct elf_cache *elfs; /* reads files by this program: symbol_worker_main.h */
	struct jit_cache *jits; /* likewise: jit_worker_main.h */
	struct window *window;
	struct locator locator;
};

#define CODE_IDENTITY_BYTES 40

/* Device and inode of a file, as a list of mappings has them. */
void code_fixture_identity(const char *path, char ret_text[static CODE_IDENTITY_BYTES]);

void code_fixture_init(struct code_fixture *fixture);
void code_fixture_done(struct code_fixture *fixture);

/* The same for a test whose state is a fixture and nothing else. */
int code_fixture_set_up(void **state);
int code_fixture_tear_down(void **state);

/* Follows a window with the next one. */
void code_fixture_next_window(struct code_fixture *fixture);

/* Returns the offset of a function of the test program in its file. */
uint64_t code_fixture_offset(void (*function)(void));

/* Adds the stack of a sample, and returns its number. */
uint32_t code_fixture_locate(struct code_fixture *fixture, const struct sample_event *event);

/* The location of the n-th frame of a stack. */
uint32_t code_fixture_frame(const struct code_fixture *fixture, uint32_t stack, size_t n);

#endif

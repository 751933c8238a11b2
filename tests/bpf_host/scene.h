/* SPDX-License-Identifier: Apache-2.0 */
/* A process to unwind, made by hand:
 *
 *	SCENE_CODE        function 0, 1, 2 … of 256 bytes each, from a file; rule i holds in function i
 *	SCENE_CODE_END    a hole
 *	SCENE_JIT         code without a file
 *	SCENE_JIT_END     a hole
 *	SCENE_STACK       what scene_set_stack() puts there; the stack pointer is here
 *
 * Function 0 has no CFI (rule 0), the others have their CFA at sp + 8, and the return address
 * right below it, until they get another rule. SCENE_ROOT is a first frame. The process is in
 * function 1. The same for every architecture. */
#ifndef TESTS_BPF_HOST_SCENE_H
#define TESTS_BPF_HOST_SCENE_H

#include "bpf/shared/runtime.h"
#include "tests/bpf_host/fake_bpf.h"

#include "unit.h"

#include <stddef.h>
#include <stdint.h>

#define SCENE_PID 77
#define SCENE_SLOT 5
#define SCENE_LIST 64 /* units */
#define SCENE_TABLE 20992 /* behind the largest list */
#define SCENE_LIST_ID 9

#define SCENE_NR_FUNCTIONS 64
#define SCENE_ROOT (SCENE_NR_FUNCTIONS - 1)
#define SCENE_CODE 0x400000ULL
#define SCENE_CODE_END (SCENE_CODE + 0x100 * SCENE_NR_FUNCTIONS)
#define SCENE_FILE_OFFSET 0x3000ULL /* of SCENE_CODE */
#define SCENE_JIT 0x70000000ULL
#define SCENE_JIT_END (SCENE_JIT + 0x10000)
#define SCENE_STACK 0x7ffd00001000ULL

/* An address in a function, as good for a return address as for the CPU's; no function could
 * begin there. */
#define AT_FUNCTION(i) (SCENE_CODE + 0x100ULL * (i))
#define IN_FUNCTION(i) (AT_FUNCTION(i) + 0x44)
#define IN_ROOT IN_FUNCTION(SCENE_ROOT)

/* The address of a word of the stack. */
#define STACK_WORD(i) (SCENE_STACK + 8ULL * (i))

struct scene_row {
	uint32_t file_offset;
	uint16_t rule;
};

void scene_begin(void);

/* A rule that finds its CFA like this and the return address right below it, and in which every
 * callee-saved register has the caller's value. */
struct cfi_rule scene_rule(enum cfa_kind kind, enum unwind_register reg, int32_t offset);

void scene_set_rule(unsigned int function, struct cfi_rule rule);
void scene_set_stack(const uint64_t *words, size_t nr_words);

#define scene_stack(...)                                                                           \
	scene_set_stack((uint64_t[]){ __VA_ARGS__ },                                               \
			sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Puts a table of rows in ascending order into the arena, in place of that of the functions. */
void scene_put_table(const struct cfi_rule *rules, size_t nr_rules, const struct scene_row *rows,
		     size_t nr_rows);
void scene_put_table_at(uint32_t unit, const struct cfi_rule *rules, size_t nr_rules,
			const struct scene_row *rows, size_t nr_rows);

/* Puts a mapping table with one range more than it has starts: each range has the file at
 * `biases[i]`, slot `slots[i]`; slot HOLE is a hole, POSTPONED a file that gets its slot later. */
#define HOLE UINT32_MAX
#define POSTPONED (UINT32_MAX - 2)
void scene_put_list(const uint64_t *starts, const uint32_t *slots, const uint64_t *biases,
		    uint32_t nr_ranges);

/* Puts a mapping table with the file's code, code without a file, and a V8 in the file of a
 * slot. */
void scene_put_v8(const struct v8_layout *layout, uint32_t slot);

int scene_unwind(void);

/* Unwinds, and checks how it ends and all frames. */
void scene_check(int result, const uint64_t *frames, size_t nr_frames);

#define assert_unwinds(result, ...)                                                                \
	scene_check(result, (uint64_t[]){ __VA_ARGS__ },                                           \
		    sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* Returns whether a register's value is known at the frame where unwinding ended. */
bool scene_knows(enum unwind_register reg);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for unwinding without frame pointers: what the agent writes for the BPF unwinder
 * to read.
 *
 *	processes[pid] ──▶ mapping table: sorted executable ranges ──▶ tables[slot] ──▶ row table of the file
 *	                                                               ▲                rows ──▶ rules
 *	no table yet: the task's own mappings ──▶ files[file_key] ─────┘
 *
 * A mapping table may end with descriptors of the process's runtimes, and a slot may refer to the
 * layout of a runtime (shared/runtime.h).
 *
 * Mapping tables and row tables lie in the *arena*: one address space of units of ARENA_UNIT
 * bytes, cut into chunks, each a mmapable array map that is made on demand and never freed.
 * Everything is aligned to its own size, so nothing that is read at once crosses a block. A unit
 * of 0 is no reference.
 *
 * Row tables are addressed by *file offset*, not by virtual address: a mapping tells the one and
 * not the other, and then a mapping table needs nothing that is in the file. */
#ifndef BPF_SHARED_CFI_H
#define BPF_SHARED_CFI_H

#include <linux/types.h>

/* BPF is compiled for a target; programs that are compiled for this machine are for its own,
 * unless they name one. */
#if defined(__TARGET_ARCH_arm64) || (defined(__aarch64__) && !defined(__TARGET_ARCH_x86))
#include "bpf/shared/cfi_arm64.h"
#else
#include "bpf/shared/cfi_x86.h"
#endif

#define ARENA_UNIT 64
#define ARENA_BLOCK_BYTES 4096 /* a value of a chunk's array */
#define ARENA_CHUNK_BLOCKS 256
#define ARENA_CHUNK_BYTES (ARENA_BLOCK_BYTES * ARENA_CHUNK_BLOCKS)
#define ARENA_MAX_CHUNKS 4096

/* A process's binding, the value of `processes`: its mapping table and the id that the table
 * must have, so that a binding that outlives its table is noticed. */
#define MAPPING_BINDING(unit, id) ((__u64)(id) << 32 | (unit))
#define MAPPING_BINDING_UNIT(binding) ((__u32)(binding))
#define MAPPING_BINDING_ID(binding) ((__u32)((binding) >> 32))

/* Bindings without a mapping table, whose id is 0: */
#define MAPPING_BINDING_NONE 0 /* sampled: the agent will see that when it polls */
#define MAPPING_BINDING_ASKED 1 /* the agent was woken for it */

/* A mapping table: this, then nr_ranges starts (u64) in ascending order at MAPPING_TABLE_STARTS,
 * then as many struct mapping_range at `ranges_offset`. A range ends where the next one starts;
 * holes between mappings are ranges too. The last one is a hole. */
struct mapping_table {
	__u32 id; /* never 0 */
	__u32 nr_ranges;
	__u32 ranges_offset; /* from the head of the table, in bytes; a multiple of 32 */
	/* a sample was in none of its ranges: the agent was woken to look for news */
	__u32 is_asked;
	/* Of struct runtime_descriptor, from the head, in bytes; a multiple of ARENA_UNIT. */
	__u32 runtimes_offset;
	__u32 nr_runtimes; /* at most RUNTIME_MAX_OF_PROCESS */
	__u64 pad;
};

#define MAPPING_TABLE_STARTS sizeof(struct mapping_table)
#define MAPPING_TABLE_MAX_RANGES 32768

struct mapping_range {
	__u64 bias; /* address - bias = offset in the file */
	__u32 slot; /* in `tables`; 0: code without a file, for frame pointers */
	__u16 is_hole;
	/* the file will be opened and get a slot: nothing is known until then */
	__u16 is_postponed;
	/* the kernel side's: the mappings that it was compared with last; 0: none */
	__u64 checked_by;
	__u64 pad;
};

/* A value of `tables`. Slot 0 belongs to no file: its `used` is the clock, which the kernel side
 * copies into the `used` of each slot that it needs. So the agent knows which tables are in use
 * and which ones are needed. */
struct table_slot {
	__u32 unit; /* of the row table; or one of the two below */
	__u32 used;
	__u32 runtime; /* the unit of a struct runtime_layout; 0: none */
	__u32 pad;
};

#define MAX_TABLE_SLOTS 65536
#define TABLE_NOT_LOADED 0
#define TABLE_WITHOUT_CFI 1 /* the file has none: frame pointers */

/* Identifies a mapped file: the key of the map `files`, whose value is the slot of the file. The
 * numbers are those of the inode in the kernel's own mapping; on overlayfs and btrfs, stat(2)
 * and /proc may show others. A file that is written to, or that takes the place of another one,
 * has another key. The key of the vDSO is all zero. */
struct file_key {
	__u64 inode;
	__u64 ctime_s; /* change time */
	__u32 ctime_ns;
	__u32 device;
	__u32 generation; /* of the inode number */
	__u32 pad;
};

#define MAX_KNOWN_FILES 16384

/* A row table: this, then the page directory, nr_pages + 1 numbers of rows (u32) at
 * ROW_TABLE_PAGES; the rules at `rules_offset`; the rows at `rows_offset`. The rows of page p
 * are those from pages[p] up to, not including, pages[p + 1]; the row that holds for an offset
 * is the last one that does not begin above it, which may be a page's that lies before. Rule 0
 * is that of code without CFI. */
struct row_table {
	__u32 first_page; /* file offset / ROW_PAGE_BYTES */
	__u32 nr_pages;
	__u32 nr_rules;
	__u32 nr_rows;
	__u32 rules_offset; /* from the head of the table, in bytes; a multiple of 16 */
	__u32 rows_offset; /* a multiple of 4 */
	__u32 bytes; /* all of it */
	__u32 pad;
};

#define ROW_TABLE_PAGES sizeof(struct row_table)
#define ROW_PAGE_BYTES 4096
#define ROW_TABLE_MAX_RULES 65536

/* A row: from here on this rule holds. */
#define ROW(pc, rule) ((__u32)((pc)&0xffff) << 16 | (rule))
#define ROW_PC(row) ((row) >> 16) /* lower 16 bits of the file offset */
#define ROW_RULE(row) ((row)&0xffff)

/* Rules for the canonical frame address (CFA), the value of the stack pointer before the call.
 * X(NAME, words) */
#define CFA_KINDS(X)                                                                               \
	X(NONE, "no CFI: step by frame pointer")                                                   \
	X(REGISTER, "register + offset")                                                           \
	X(DEREF, "*(register + offset) + arg")                                                     \
	X(PLT, "rsp + offset, 8 more from byte arg of each 16-byte PLT entry on")                  \
	X(SIGNAL, "all registers are in the signal frame at rsp")                                  \
	X(END, "the first frame of a stack")                                                       \
	X(STACK_SWITCH, "frame pointer step that may lead to another stack")                       \
	X(UNSUPPORTED, "a rule that is not one of these")

enum cfa_kind {
#define X(NAME, words) CFA_##NAME,
	CFA_KINDS(X)
#undef X
		CFA_NR_KINDS,
};

/* A register is saved at CFA + 8 * a cfi_slot (with CFI_SAVED_AT_RBP: rbp + 8 * this). A place
 * below the stack pointer holds nothing yet, or no more: then the register itself still has the
 * value. The same goes for all places relative to rbp if rbp is not between the stack pointer
 * and the CFA: it is the caller's again. */
#define CFI_SAVED_AT_RBP 1
/* The CFA's offset changes by 8 at each byte behind the row's pc whose bit is set in `arg` (bit
 * 1: one byte behind): the pushes of a prologue in one row, or the pops of an epilogue. */
#define CFI_RUN_UP 2
#define CFI_RUN_DOWN 4

#define CFI_MAX_RUN 15 /* bytes */

/* The return address is in the register `arg`, as in the last instruction of an exception's way
 * up. */
#define CFI_RETURN_IN_REGISTER 8

/* Places below the stack pointer count like others: Go on arm64 keeps its caller's frame pointer
 * there. */
#define CFI_SAVED_BELOW_SP 16

_Static_assert(sizeof(struct mapping_table) == 32, "part of the contract");
_Static_assert(sizeof(struct mapping_range) == 32, "part of the contract");
_Static_assert(sizeof(struct file_key) == 32, "no hidden padding");
_Static_assert(sizeof(struct row_table) == 32, "part of the contract");
_Static_assert(sizeof(struct cfi_rule) == 16, "part of the contract");

#endif

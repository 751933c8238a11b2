/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes V8's tables of source positions and of bytecode offsets. Sources: V8's
 * src/codegen/source-position-table.cc, src/codegen/source-position.h,
 * src/baseline/bytecode-offset-iterator.h. */
#ifndef RUNTIME_V8_V8_POSITIONS_H
#define RUNTIME_V8_V8_POSITIONS_H

#include <stddef.h>
#include <stdint.h>

/* A SourcePosition. */
struct v8_position {
	int32_t offset; /* characters from the start of the script; -1: unknown */
	int32_t inlining; /* index in the InliningPositions; -1: not inlined */
};

/* Takes a SourcePosition apart. */
struct v8_position v8_position_of(uint64_t raw);

/* Forms of the distance of an entry from the one before. */
enum v8_distances {
	V8_DISTANCES_SIGNED, /* the complement of a distance belongs to an expression */
	V8_DISTANCES_SHIFTED, /* V8 14: by two bits; the lowest bit says so instead */
	/* V8 14.9 and later: by three bits, of which the highest says that the position is none. */
	V8_DISTANCES_SHIFTED_3,
};

/* Returns the position of the last entry that does not begin above `offset`, in bytes of code or of
 * bytecode; an unknown one if there is none. A damaged table counts up to the damage. */
struct v8_position v8_positions_find(const uint8_t *table, size_t len, enum v8_distances distances,
				     uint32_t offset);

/* The values by which the beginnings of bytecodes are found. */
struct v8_bytecodes {
	const uint8_t *bytes; /* borrowed */
	size_t len;
	const uint8_t *sizes; /* as from V8_BYTECODE_SIZES on; borrowed */
	uint32_t nr_sizes;
};

/* Returns the offset of the bytecode whose baseline code has the address `pc_offset`, counted from
 * the code's start, behind its start and not behind its end; -1 if that is the function's
 * prologue, or unknown. */
int32_t v8_bytecode_offset_find(const uint8_t *table, size_t len,
				const struct v8_bytecodes *bytecodes, uint32_t pc_offset);

#endif

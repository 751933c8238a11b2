/* SPDX-License-Identifier: Apache-2.0 */
/* Tells where the instructions behind a place in compiled code lead, as far as their order says. */
#ifndef RUNTIME_HOTSPOT_CODE_FLOW_H
#define RUNTIME_HOTSPOT_CODE_FLOW_H

#include <stddef.h>
#include <stdint.h>

#define CODE_FLOW_MAX_BYTES 4096 /* that need be read, up to the described place behind */
#define CODE_FLOW_TAIL_BYTES 128 /* likewise, from there on */

/* The places next to one that the compiler described, as offsets from it. */
struct code_marks {
	int64_t before; /* INT64_MIN: there is none */
	size_t behind; /* SIZE_MAX: there is none */
};

enum code_flow {
	/* To the described place behind; or to the end of what was read, or it is not known. */
	CODE_FLOW_GOES_ON,
	/* A jump leads back to the place, or to what is before it. */
	CODE_FLOW_LOOPS,
	CODE_FLOW_RETURNS,
};

/* Follows the instructions from `code` on, which has `len` bytes, and takes no conditional jump.
 * What cannot be decoded goes on.
 *
 * A loop goes on to the described place behind it if that belongs to it. C2 makes two loops of one
 * that counts: the inner one has no safepoint poll, and the poll that the compiler describes is
 * right behind it, in the outer one (loopnode.hpp, OuterStripMinedLoopNode). So the code behind the
 * poll jumps back into the inner loop or shortly before it, not past the described place before. */
enum code_flow code_flow_find(const uint8_t *code, size_t len, const struct code_marks *marks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Tells where the instructions behind a place in compiled code lead, as far as their order says. */
#ifndef RUNTIME_HOTSPOT_CODE_FLOW_H
#define RUNTIME_HOTSPOT_CODE_FLOW_H

#include <stddef.h>
#include <stdint.h>

#define CODE_FLOW_MAX_BYTES 4096 /* that need be read */

enum code_flow {
	CODE_FLOW_GOES_ON, /* to the end of what was read, or it is not known */
	CODE_FLOW_LOOPS, /* a jump leads back to the place, or to what is before it */
	CODE_FLOW_RETURNS,
};

/* Follows the instructions from `code` on, which has `len` bytes, and takes no conditional jump.
 * What cannot be decoded goes on. */
enum code_flow code_flow_find(const uint8_t *code, size_t len);

#endif

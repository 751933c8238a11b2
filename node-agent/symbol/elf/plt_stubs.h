/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stubs of a procedure linkage table in its code, for x86-64 and arm64 files. */
#ifndef SYMBOL_ELF_PLT_STUBS_H
#define SYMBOL_ELF_PLT_STUBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section of stubs; the caller's. */
struct plt_code {
	const uint8_t *bytes; /* borrowed */
	uint64_t len;
	uint64_t address;
	uint64_t stub_bytes; /* what the section says of their size; may be absurd */
	uint64_t pos; /* where to go on; 0 at first */
};

struct plt_stub {
	uint64_t address;
	uint64_t len;
	uint64_t slot; /* the address of the word that it jumps through */
};

typedef bool plt_stub_finder(struct plt_code *code, struct plt_stub *ret_stub);

/* The finder for an ELF machine: finds the next stub that jumps through a slot; false: there is
 * none. NULL: no such machine. */
plt_stub_finder *plt_stub_finder_for(uint16_t machine);

#endif

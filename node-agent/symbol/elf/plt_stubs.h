/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stubs of a procedure linkage table in its code, for x86-64 and arm64 files. */
#ifndef SYMBOL_ELF_PLT_STUBS_H
#define SYMBOL_ELF_PLT_STUBS_H

#include <stdbool.h>
#include <stdint.h>

/* A section of stubs. */
struct plt_code {
	const uint8_t *bytes; /* borrowed */
	uint64_t len;
	uint64_t address;
	uint64_t stub_bytes; /* size of a stub by the section header; not trusted */
	uint64_t pos; /* offset at which the search continues; 0 at first */
};

struct plt_stub {
	uint64_t address;
	uint64_t len;
	uint64_t slot; /* address of the word through which it jumps */
};

/* Finds the next stub that jumps through a slot. Returns false if there is none. */
typedef bool plt_stub_finder(struct plt_code *code, struct plt_stub *ret_stub);

/* Returns the finder for an ELF machine, or NULL if the machine is not supported. */
plt_stub_finder *plt_stub_finder_for(uint16_t machine);

#endif

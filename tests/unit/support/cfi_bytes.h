/* SPDX-License-Identifier: Apache-2.0 */
/* Builds .eh_frame and .debug_frame byte by byte. */
#ifndef TESTS_UNIT_CFI_BYTES_H
#define TESTS_UNIT_CFI_BYTES_H

#include "unwind/cfi/cfi.h"

#include <string.h>

/* Bytes in a table of cases, as a string; they may have zeros in them. */
struct byte_string {
	const char *data;
	size_t len;
};

#define BYTES(text)                                                                                \
	{                                                                                          \
		.data = (text), .len = sizeof(text) - 1                                            \
	}

struct cfi_bytes {
	uint8_t bytes[1024];
	size_t len;
	size_t entry; /* where the last entry's length is */
};

static inline void cfi_bytes_append(struct cfi_bytes *out, struct byte_string part)
{
	memcpy(out->bytes + out->len, part.data, part.len);
	out->len += part.len;
}

static inline void cfi_bytes_number(struct cfi_bytes *out, uint64_t value, size_t nr_bytes)
{
	memcpy(out->bytes + out->len, &value, nr_bytes);
	out->len += nr_bytes;
}

/* An entry with a 4-byte length, which cfi_bytes_end() fills in. */
static inline void cfi_bytes_begin(struct cfi_bytes *out, uint32_t id)
{
	out->entry = out->len;
	cfi_bytes_number(out, 0, 4);
	cfi_bytes_number(out, id, 4);
}

static inline void cfi_bytes_end(struct cfi_bytes *out)
{
	uint32_t len = (uint32_t)(out->len - out->entry - 4);

	memcpy(out->bytes + out->entry, &len, sizeof(len));
}

/* A whole entry. */
static inline void cfi_bytes_entry(struct cfi_bytes *out, uint32_t id, struct byte_string body)
{
	cfi_bytes_begin(out, id);
	cfi_bytes_append(out, body);
	cfi_bytes_end(out);
}

/* A CIE of version 1 with augmentation "", steps of 1 byte in code and -8 in data, and the
 * instructions that all code begins with: CFA = rsp + 8, return address at CFA - 8. */
static inline void cfi_bytes_usual_cie(struct cfi_bytes *out)
{
	cfi_bytes_entry(out, 0,
			(struct byte_string)BYTES("\x01\0\x01\x78\x10"
						  "\x0c\x07\x08\x90\x01"));
}

/* An FDE for [start, start + len), 8-byte absolute addresses, of the CIE at
 * offset 0 of an .eh_frame. */
static inline void cfi_bytes_fde(struct cfi_bytes *out, uint64_t start, uint64_t len,
				 struct byte_string program)
{
	cfi_bytes_begin(out, (uint32_t)(out->len + 4));
	cfi_bytes_number(out, start, 8);
	cfi_bytes_number(out, len, 8);
	cfi_bytes_append(out, program);
	cfi_bytes_end(out);
}

static inline struct cfi_section cfi_bytes_section(const struct cfi_bytes *bytes)
{
	return (struct cfi_section){
		.data = bytes->bytes,
		.len = bytes->len,
		.address = 0x400000,
		.text_address = 0x10000,
		.data_address = 0x20000,
	};
}

#endif

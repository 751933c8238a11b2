/* SPDX-License-Identifier: Apache-2.0 */
/* A small ELF file without sections that exports symbols, by DT_HASH, and has some bytes for them
 * to stand for. */
#ifndef TESTS_UNIT_EXPORT_IMAGE_H
#define TESTS_UNIT_EXPORT_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT_IMAGE_ADDRESS 0x10000 /* of offset 0 */
#define EXPORT_IMAGE_MAX_SYMBOLS 8
#define EXPORT_IMAGE_MAX_STARTS 8
#define EXPORT_IMAGE_DATA_BYTES 8192
#define EXPORT_IMAGE_DATA (EXPORT_IMAGE_ADDRESS + offsetof(struct export_image, data))

struct export_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[5]; /* PT_LOAD, PT_DYNAMIC; the others on request */
	Elf64_Dyn dynamic[5];
	Elf64_Sym symbols[EXPORT_IMAGE_MAX_SYMBOLS];
	char names[512];
	struct {
		uint32_t nr_buckets, nr_chains, bucket, chains[EXPORT_IMAGE_MAX_SYMBOLS];
	} hash;
	uint8_t data[EXPORT_IMAGE_DATA_BYTES] __attribute__((aligned(8)));
	/* For the functions below. */
	uint32_t nr_symbols;
	uint32_t names_len;
};

void export_image_init(struct export_image *image);
void export_image_add(struct export_image *image, const char *name, uint64_t address,
		      uint64_t size);
void export_image_add_interpreter(struct export_image *image);
void export_image_add_tls(struct export_image *image, uint64_t nr_bytes);

/* Adds .eh_frame_hdr at an offset in the data, with the starts of functions, which are in order. */
void export_image_add_starts(struct export_image *image, size_t at, const uint64_t *starts,
			     size_t nr);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A small program file with call frame information, made in memory, to be changed and written. */
#ifndef TESTS_UNIT_ELF_IMAGE_H
#define TESTS_UNIT_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_DATA_ADDRESS 0x400000 /* of offset 0 */
#define IMAGE_TEXT_OFFSET 0x1000
#define IMAGE_TEXT_ADDRESS 0x403000
#define IMAGE_TEXT_BYTES 0x1000
#define IMAGE_FUNCTION_BYTES 0x20
#define IMAGE_FUNCTION_DISTANCE 0x40
#define IMAGE_FIRST_FUNCTION 0x100 /* behind the beginning of the text */
#define IMAGE_MAX_FUNCTIONS 10

enum {
	IMAGE_NULL,
	IMAGE_TEXT,
	IMAGE_EH_FRAME,
	IMAGE_DEBUG_FRAME,
	IMAGE_DEBUGLINK,
	IMAGE_NAMES,
	IMAGE_NR_SECTIONS,
};

enum { IMAGE_LOAD_DATA, IMAGE_LOAD_TEXT, IMAGE_FRAME_HDR, IMAGE_NOTE, IMAGE_NR_SEGMENTS };

struct elf_image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[IMAGE_NR_SEGMENTS];
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[20];
	} note;
	struct {
		uint8_t version, encodings[3];
		int32_t eh_frame; /* from here */
		uint32_t nr_functions;
	} frame_hdr;
	uint8_t eh_frame[512];
	uint8_t debug_frame[512];
	uint8_t debuglink[64];
	char names[96];
	Elf64_Shdr sections[IMAGE_NR_SECTIONS];
};

/* A program with `nr` functions in .eh_frame and as many, of a frame that is 8 bytes
 * larger, in .debug_frame. */
void elf_image_init(struct elf_image *image, size_t nr_eh_frame, size_t nr_debug_frame);

/* Renames a section; the name is not longer than the old one's place. */
void elf_image_hide(struct elf_image *image, size_t section);

/* Writes the first `len` bytes of the file, which has text behind the
 * image. The fd is the caller's. */
int elf_image_write(const struct elf_image *image, size_t len);
int elf_image_write_all(const struct elf_image *image);

/* Skips a test that reads files of this machine where the code is for those of another one. */
void elf_image_skip_on_other_machines(void);

/* Returns the offset of a function of the image in the file. */
uint64_t elf_image_function(size_t index);

#endif

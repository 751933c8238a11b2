/* SPDX-License-Identifier: Apache-2.0 */
/* Writes small files with debug information, DIE by DIE, including some that no compiler makes. */
#ifndef TESTS_UNIT_DWARF_IMAGE_H
#define TESTS_UNIT_DWARF_IMAGE_H

#include "base/strbuf.h"

#include <stdint.h>

/* Kinds of DIEs, with the attributes that follow, in this order. */
enum dwarf_image_die {
	IMAGE_END, /* of a list of children */
	IMAGE_UNIT, /* name, low, length, language; children */
	IMAGE_SILENT_UNIT, /* name; children */
	IMAGE_SUBPROGRAM, /* name, low, length; children */
	IMAGE_INLINED, /* origin, low, length, call line; children */
	IMAGE_ABSTRACT, /* name, line */
	IMAGE_REFERENCE, /* a subprogram without code: origin */
	IMAGE_LINKED, /* linkage name, name, low, length */
	IMAGE_BLOCK, /* children */
	IMAGE_NAMESPACE, /* name; children */
	IMAGE_NAMELESS, /* a subprogram: low, length; children */
	IMAGE_VARIABLE, /* name */
};

struct dwarf_image {
	struct strbuf info;
	struct strbuf aranges;
	struct strbuf strings;
	size_t unit; /* offset of the open unit */
};

void dwarf_image_init(struct dwarf_image *image);
void dwarf_image_done(struct dwarf_image *image);

void dwarf_image_begin_unit(struct dwarf_image *image);
void dwarf_image_end_unit(struct dwarf_image *image);

/* Begins a DIE; its attributes must follow. Returns its offset in the unit. */
uint32_t dwarf_image_die(struct dwarf_image *image, enum dwarf_image_die die);
void dwarf_image_string(struct dwarf_image *image, const char *text);
void dwarf_image_code(struct dwarf_image *image, uint64_t low, uint64_t length);
void dwarf_image_u32(struct dwarf_image *image, uint32_t value);
void dwarf_image_u16(struct dwarf_image *image, uint16_t value);
void dwarf_image_u8(struct dwarf_image *image, uint8_t value);

/* Add a DIE with all its attributes. */
uint32_t dwarf_image_subprogram(struct dwarf_image *image, const char *name, uint64_t low,
				uint64_t length);
uint32_t dwarf_image_inlined(struct dwarf_image *image, uint32_t origin, uint64_t low,
			     uint64_t length);
void dwarf_image_unit(struct dwarf_image *image, uint64_t low, uint64_t length);

/* Adds an entry in .debug_aranges for the open unit. */
void dwarf_image_arange(struct dwarf_image *image, uint64_t low, uint64_t length);

/* Appends the whole ELF file. */
void dwarf_image_write(const struct dwarf_image *image, struct strbuf *out);

#endif

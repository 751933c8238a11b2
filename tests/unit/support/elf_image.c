/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_image.h"

#include "base/fileio.h"
#include "unit.h"
#include "elf/arch.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FILE_BYTES (IMAGE_TEXT_OFFSET + IMAGE_TEXT_BYTES)

static const char *const section_names[IMAGE_NR_SECTIONS] = {
	"", ".text", ".eh_frame", ".debug_frame", ".gnu_debuglink", ".shstrtab",
};

static uint64_t function_address(size_t index)
{
	return IMAGE_TEXT_ADDRESS + IMAGE_FIRST_FUNCTION + index * IMAGE_FUNCTION_DISTANCE;
}

uint64_t elf_image_function(size_t index)
{
	return function_address(index) - IMAGE_TEXT_ADDRESS + IMAGE_TEXT_OFFSET;
}

/* CFA = sp + 8, the return address below it. */
static size_t put_eh_frame(struct elf_image *image, size_t nr)
{
	static const uint8_t cie[] = { 0x14,   0,    0,
				       0,      0,    0,
				       0,      0,    1,
				       'z',    'R',  0,
				       1,      0x78, DWARF_REG_RA,
				       1,      0x1b, 0x0c,
				       CFI_SP, 8,    0x80 | DWARF_REG_RA,
				       1,      0,    0 };
	size_t pos = sizeof(cie);

	memcpy(image->eh_frame, cie, sizeof(cie));
	for (size_t i = 0; i < nr; i++) {
		uint64_t field = IMAGE_DATA_ADDRESS + offsetof(struct elf_image, eh_frame) + pos +
				 8;
		uint32_t fde[] = { 16, (uint32_t)pos + 4, (uint32_t)(function_address(i) - field),
				   IMAGE_FUNCTION_BYTES, 0 };

		memcpy(image->eh_frame + pos, fde, sizeof(fde));
		pos += sizeof(fde);
	}
	return pos + 4; /* the terminator */
}

/* CFA = sp + 16. */
static size_t put_debug_frame(struct elf_image *image, size_t nr)
{
	static const uint8_t cie[] = { 0x10,
				       0,
				       0,
				       0,
				       0xff,
				       0xff,
				       0xff,
				       0xff,
				       1,
				       0,
				       1,
				       0x78,
				       DWARF_REG_RA,
				       0x0c,
				       CFI_SP,
				       16,
				       0x80 | DWARF_REG_RA,
				       1,
				       0,
				       0 };
	size_t pos = sizeof(cie);

	memcpy(image->debug_frame, cie, sizeof(cie));
	for (size_t i = 0; i < nr; i++) {
		uint32_t head[] = { 20, 0 };
		uint64_t range[] = { function_address(i), IMAGE_FUNCTION_BYTES };

		memcpy(image->debug_frame + pos, head, sizeof(head));
		memcpy(image->debug_frame + pos + 8, range, sizeof(range));
		pos += 24;
	}
	return pos;
}

static void put_section(struct elf_image *image, size_t index, uint32_t type, size_t offset,
			size_t len)
{
	image->sections[index].sh_type = type;
	image->sections[index].sh_offset = offset;
	image->sections[index].sh_size = len;
	image->sections[index].sh_addralign = 1;
}

static void put_names(struct elf_image *image)
{
	size_t pos = 1;

	for (size_t i = 1; i < IMAGE_NR_SECTIONS; i++) {
		size_t len = strlen(section_names[i]) + 1;

		memcpy(image->names + pos, section_names[i], len);
		image->sections[i].sh_name = (uint32_t)pos;
		pos += len;
	}
}

static void put_sections(struct elf_image *image, size_t nr_eh_frame, size_t nr_debug_frame)
{
	put_section(image, IMAGE_TEXT, SHT_PROGBITS, IMAGE_TEXT_OFFSET, IMAGE_TEXT_BYTES);
	image->sections[IMAGE_TEXT].sh_addr = IMAGE_TEXT_ADDRESS;
	put_section(image, IMAGE_EH_FRAME, SHT_PROGBITS, offsetof(struct elf_image, eh_frame),
		    put_eh_frame(image, nr_eh_frame));
	image->sections[IMAGE_EH_FRAME].sh_addr = IMAGE_DATA_ADDRESS +
						  offsetof(struct elf_image, eh_frame);
	put_section(image, IMAGE_DEBUG_FRAME, SHT_PROGBITS, offsetof(struct elf_image, debug_frame),
		    put_debug_frame(image, nr_debug_frame));
	put_section(image, IMAGE_DEBUGLINK, SHT_PROGBITS, offsetof(struct elf_image, debuglink),
		    sizeof(image->debuglink));
	put_section(image, IMAGE_NAMES, SHT_STRTAB, offsetof(struct elf_image, names),
		    sizeof(image->names));
	put_names(image);
}

static void put_segments(struct elf_image *image)
{
	image->segments[IMAGE_LOAD_DATA] = (Elf64_Phdr){ .p_type = PT_LOAD,
							 .p_flags = PF_R,
							 .p_vaddr = IMAGE_DATA_ADDRESS,
							 .p_filesz = sizeof(*image) };
	image->segments[IMAGE_LOAD_TEXT] = (Elf64_Phdr){ .p_type = PT_LOAD,
							 .p_flags = PF_R | PF_X,
							 .p_offset = IMAGE_TEXT_OFFSET,
							 .p_vaddr = IMAGE_TEXT_ADDRESS,
							 .p_filesz = IMAGE_TEXT_BYTES };
	image->segments[IMAGE_FRAME_HDR] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = offsetof(struct elf_image, frame_hdr),
		.p_vaddr = IMAGE_DATA_ADDRESS + offsetof(struct elf_image, frame_hdr),
		.p_filesz = sizeof(image->frame_hdr),
	};
	image->segments[IMAGE_NOTE] = (Elf64_Phdr){ .p_type = PT_NOTE,
						    .p_offset = offsetof(struct elf_image, note),
						    .p_filesz = sizeof(image->note),
						    .p_align = 4 };
}

void elf_image_init(struct elf_image *image, size_t nr_eh_frame, size_t nr_debug_frame)
{
	*image = (struct elf_image){
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = ARCH_ELF_MACHINE,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct elf_image, segments),
			.e_shoff = offsetof(struct elf_image, sections),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = IMAGE_NR_SEGMENTS,
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = IMAGE_NR_SECTIONS,
			.e_shstrndx = IMAGE_NAMES,
		},
		.note = { { 4, sizeof(image->note.id), NT_GNU_BUILD_ID }, "GNU", "0123456789abcdefghi" },
		.frame_hdr = {
			.version = 1,
			.encodings = { 0x1b, 0xff, 0xff },
			.eh_frame = offsetof(struct elf_image, eh_frame) -
				    offsetof(struct elf_image, frame_hdr.eh_frame),
		},
	};
	put_segments(image);
	put_sections(image, nr_eh_frame, nr_debug_frame);
}

void elf_image_hide(struct elf_image *image, size_t section)
{
	image->sections[section].sh_name = 0;
}

int elf_image_write(const struct elf_image *image, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(sizeof(*image) <= IMAGE_TEXT_OFFSET && len <= FILE_BYTES);
	assert_int_equal(fd_write_all(fd, image, len < sizeof(*image) ? len : sizeof(*image)), 0);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	return fd;
}

int elf_image_write_all(const struct elf_image *image)
{
	return elf_image_write(image, FILE_BYTES);
}

void elf_image_skip_on_other_machines(void)
{
	struct utsname name;

	assert_int_equal(uname(&name), 0);
	if ((strcmp(name.machine, "aarch64") == 0) != CFI_IS_ARM64)
		skip();
}

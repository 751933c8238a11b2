/* SPDX-License-Identifier: Apache-2.0 */
#include "export_image.h"

#include "unit.h"

#include <string.h>

static Elf64_Dyn entry(int64_t tag, uint64_t value)
{
	return (Elf64_Dyn){ .d_tag = tag, .d_un.d_val = value };
}

void export_image_init(struct export_image *image)
{
	*image = (struct export_image){
		.header = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = offsetof(struct export_image, segments),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 5,
		},
		.segments = { {
			.p_type = PT_LOAD,
			.p_vaddr = EXPORT_IMAGE_ADDRESS,
			.p_filesz = sizeof(*image),
			.p_memsz = sizeof(*image),
		}, {
			.p_type = PT_DYNAMIC,
			.p_offset = offsetof(struct export_image, dynamic),
			.p_filesz = sizeof(image->dynamic),
		} },
		.nr_symbols = 1,
		.names_len = 1,
		.hash = { .nr_buckets = 1, .nr_chains = EXPORT_IMAGE_MAX_SYMBOLS },
	};
	image->dynamic[0] = entry(DT_SYMTAB,
				  EXPORT_IMAGE_ADDRESS + offsetof(struct export_image, symbols));
	image->dynamic[1] = entry(DT_STRTAB,
				  EXPORT_IMAGE_ADDRESS + offsetof(struct export_image, names));
	image->dynamic[2] = entry(DT_STRSZ, sizeof(image->names));
	image->dynamic[3] = entry(DT_HASH,
				  EXPORT_IMAGE_ADDRESS + offsetof(struct export_image, hash));
}

void export_image_add(struct export_image *image, const char *name, uint64_t address, uint64_t size)
{
	uint32_t index = image->nr_symbols++;
	size_t len = strlen(name) + 1;

	assert_true(index < EXPORT_IMAGE_MAX_SYMBOLS);
	assert_true(image->names_len + len <= sizeof(image->names));
	memcpy(image->names + image->names_len, name, len);
	image->symbols[index] = (Elf64_Sym){
		.st_name = image->names_len,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
		.st_shndx = 1,
		.st_value = address,
		.st_size = size,
	};
	image->names_len += (uint32_t)len;
	image->hash.chains[index] = image->hash.bucket;
	image->hash.bucket = index;
}

void export_image_add_interpreter(struct export_image *image)
{
	image->segments[2] = (Elf64_Phdr){ .p_type = PT_INTERP };
}

void export_image_add_tls(struct export_image *image, uint64_t nr_bytes)
{
	image->segments[3] = (Elf64_Phdr){ .p_type = PT_TLS, .p_memsz = nr_bytes };
}

void export_image_add_starts(struct export_image *image, size_t at, const uint64_t *starts,
			     size_t nr)
{
	uint64_t address = EXPORT_IMAGE_DATA + at;
	struct {
		uint8_t version, encodings[3];
		int32_t frames;
		uint32_t nr;
		struct {
			int32_t start, frame;
		} entries[EXPORT_IMAGE_MAX_STARTS];
	} header = { .version = 1, .encodings = { 0x1b, 0x03, 0x3b }, .nr = (uint32_t)nr };

	assert_true(nr <= EXPORT_IMAGE_MAX_STARTS);
	for (size_t i = 0; i < nr; i++)
		header.entries[i].start = (int32_t)(starts[i] - address);
	assert_true(at + sizeof(header) <= sizeof(image->data));
	memcpy(image->data + at, &header, sizeof(header));
	image->segments[4] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME, .p_vaddr = address };
}

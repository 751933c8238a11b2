/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_maker.h"

#include "base/fileio.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

static const uint8_t zeros[8];

static void align(struct elf_maker *maker)
{
	strbuf_append(&maker->bytes, zeros, -maker->bytes.len % sizeof(zeros));
}

size_t elf_maker_add(struct elf_maker *maker, const char *name, Elf64_Shdr header, const void *data,
		     size_t len)
{
	assert_true(maker->nr_sections < MAKER_MAX_SECTIONS);
	align(maker);
	header.sh_name = (uint32_t)maker->names.len;
	strbuf_append(&maker->names, name, strlen(name) + 1);
	if (header.sh_type != SHT_NOBITS) {
		header.sh_offset = maker->bytes.len;
		header.sh_size = len;
		strbuf_append(&maker->bytes, data, len);
	}
	maker->sections[maker->nr_sections] = header;
	return maker->nr_sections++;
}

size_t elf_maker_add_plain(struct elf_maker *maker, const char *name, const void *data, size_t len)
{
	return elf_maker_add(maker, name, (Elf64_Shdr){ .sh_type = SHT_PROGBITS }, data, len);
}

void elf_maker_init(struct elf_maker *maker)
{
	const Elf64_Shdr text = {
		.sh_type = SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = MAKER_TEXT_ADDRESS,
		.sh_offset = MAKER_TEXT_OFFSET,
		.sh_size = MAKER_TEXT_BYTES,
	};

	*maker = (struct elf_maker){
		.bytes = strbuf_with_max(MAKER_MAX_BYTES),
		.names = strbuf_with_max(MAKER_MAX_BYTES),
	};
	assert_non_null(strbuf_extend(&maker->bytes, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr)));
	elf_maker_add(maker, "", (Elf64_Shdr){ 0 }, NULL, 0);
	maker->sections[0] = (Elf64_Shdr){ 0 };
	elf_maker_add(maker, ".text", text, NULL, 0);
}

void elf_maker_done(struct elf_maker *maker)
{
	strbuf_done(&maker->bytes);
	strbuf_done(&maker->names);
}

size_t elf_maker_add_symbols(struct elf_maker *maker, uint32_t type,
			     const struct maker_symbol *symbols)
{
	struct strbuf table = strbuf_with_max(MAKER_MAX_BYTES);
	struct strbuf names = strbuf_with_max(MAKER_MAX_BYTES);
	bool is_dynamic = type == SHT_DYNSYM;
	Elf64_Shdr header = { .sh_type = type, .sh_entsize = sizeof(Elf64_Sym) };
	Elf64_Sym entry = { 0 };

	strbuf_append(&table, &entry, sizeof(entry));
	strbuf_append(&names, "", 1);
	for (const struct maker_symbol *symbol = symbols; symbol->name; symbol++) {
		entry = (Elf64_Sym){
			.st_name = (uint32_t)names.len,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = symbol->delta < MAKER_TEXT_BYTES ? 1 : SHN_UNDEF,
			.st_value = MAKER_TEXT_ADDRESS + symbol->delta,
			.st_size = symbol->size,
		};
		strbuf_append(&table, &entry, sizeof(entry));
		strbuf_append(&names, symbol->name, strlen(symbol->name) + 1);
	}
	header.sh_link = (uint32_t)elf_maker_add(maker, is_dynamic ? ".dynstr" : ".strtab",
						 (Elf64_Shdr){ .sh_type = SHT_STRTAB }, names.data,
						 names.len);
	size_t section = elf_maker_add(maker, is_dynamic ? ".dynsym" : ".symtab", header,
				       table.data, table.len);
	strbuf_done(&table);
	strbuf_done(&names);
	return section;
}

void elf_maker_finish(struct elf_maker *maker)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Phdr segment = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = MAKER_TEXT_OFFSET,
		.p_vaddr = MAKER_TEXT_ADDRESS,
		.p_filesz = MAKER_TEXT_BYTES,
	};

	strbuf_append(&maker->names, ".shstrtab", sizeof(".shstrtab"));
	header.e_shstrndx = (uint16_t)elf_maker_add(maker, "",
						    (Elf64_Shdr){ .sh_type = SHT_STRTAB },
						    maker->names.data, maker->names.len);
	align(maker);
	header.e_shoff = maker->bytes.len;
	header.e_shnum = (uint16_t)maker->nr_sections;
	strbuf_append(&maker->bytes, maker->sections, maker->nr_sections * sizeof(Elf64_Shdr));
	assert_int_equal(strbuf_error(&maker->bytes), 0);
	memcpy(maker->bytes.data, &header, sizeof(header));
	memcpy(maker->bytes.data + sizeof(header), &segment, sizeof(segment));
}

static void *bytes_at(const struct elf_maker *maker, size_t offset)
{
	return maker->bytes.data + offset;
}

Elf64_Ehdr *elf_maker_header(const struct elf_maker *maker)
{
	return bytes_at(maker, 0);
}

Elf64_Phdr *elf_maker_segment(const struct elf_maker *maker)
{
	return bytes_at(maker, sizeof(Elf64_Ehdr));
}

Elf64_Shdr *elf_maker_section(const struct elf_maker *maker, size_t number)
{
	return bytes_at(maker, elf_maker_header(maker)->e_shoff + number * sizeof(Elf64_Shdr));
}

int elf_maker_write(const void *bytes, size_t len)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes, len), 0);
	return fd;
}

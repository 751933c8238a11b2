/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_reader.h"

#include "base/cleanup.h"

#include <endian.h>
#include <string.h>
#include <sys/stat.h>

#define OWN_BYTE_ORDER (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

int elf_reader_read(const struct elf_reader *reader, uint64_t offset, void *buf, size_t len)
{
	char *to = buf;

	if (offset > reader->size || len > reader->size - offset)
		return -EBADMSG;
	while (len > 0) {
		ssize_t n = pread(reader->fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static Elf64_Ehdr widen_header(const Elf32_Ehdr *h)
{
	return (Elf64_Ehdr){
		.e_machine = h->e_machine,
		.e_phoff = h->e_phoff,
		.e_shoff = h->e_shoff,
		.e_phentsize = h->e_phentsize,
		.e_phnum = h->e_phnum,
		.e_shentsize = h->e_shentsize,
		.e_shnum = h->e_shnum,
	};
}

static Elf64_Shdr widen_section(const Elf32_Shdr *s)
{
	return (Elf64_Shdr){
		.sh_name = s->sh_name,
		.sh_type = s->sh_type,
		.sh_flags = s->sh_flags,
		.sh_addr = s->sh_addr,
		.sh_offset = s->sh_offset,
		.sh_size = s->sh_size,
		.sh_link = s->sh_link,
		.sh_info = s->sh_info,
		.sh_addralign = s->sh_addralign,
		.sh_entsize = s->sh_entsize,
	};
}

static Elf64_Phdr widen_segment(const Elf32_Phdr *p)
{
	return (Elf64_Phdr){
		.p_type = p->p_type,
		.p_flags = p->p_flags,
		.p_offset = p->p_offset,
		.p_vaddr = p->p_vaddr,
		.p_paddr = p->p_paddr,
		.p_filesz = p->p_filesz,
		.p_memsz = p->p_memsz,
		.p_align = p->p_align,
	};
}

static int read_header(struct elf_reader *reader, Elf64_Ehdr *ret_header)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr h32;
		Elf64_Ehdr h64;
	} raw = { 0 };

	int r = elf_reader_read(reader, 0, &raw, sizeof(raw.h32));
	if (r < 0)
		return r;
	if (memcmp(raw.ident, ELFMAG, SELFMAG) != 0 || raw.ident[EI_DATA] != OWN_BYTE_ORDER)
		return -EBADMSG;
	if (raw.ident[EI_CLASS] == ELFCLASS32) {
		*ret_header = widen_header(&raw.h32);
		return 0;
	}
	if (raw.ident[EI_CLASS] != ELFCLASS64)
		return -EBADMSG;

	r = elf_reader_read(reader, 0, &raw, sizeof(raw.h64));
	if (r < 0)
		return r;
	reader->is_64 = true;
	*ret_header = raw.h64;
	return 0;
}

/* Reads a table of `nr` entries of `entry_bytes`; the caller has bounded both. */
static int read_entries(const struct elf_reader *reader, uint64_t offset, size_t nr,
			size_t entry_bytes, void **ret_entries)
{
	_cleanup_free_ void *entries = calloc(nr, entry_bytes);

	if (!entries)
		return -ENOMEM;

	int r = elf_reader_read(reader, offset, entries, nr * entry_bytes);
	if (r < 0)
		return r;
	*ret_entries = take_ptr(entries);
	return 0;
}

static int read_segments(struct elf_reader *reader, const Elf64_Ehdr *header)
{
	size_t entry_bytes = reader->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	_cleanup_free_ void *raw = NULL;

	if (header->e_phnum == 0)
		return 0;
	if (header->e_phentsize != entry_bytes || header->e_phnum > ELF_MAX_SEGMENTS)
		return -EBADMSG;

	int r = read_entries(reader, header->e_phoff, header->e_phnum, entry_bytes, &raw);
	if (r < 0)
		return r;
	reader->nr_segments = header->e_phnum;
	if (reader->is_64) {
		reader->segments = take_ptr(raw);
		return 0;
	}
	reader->segments = calloc(reader->nr_segments, sizeof(Elf64_Phdr));
	if (!reader->segments)
		return -ENOMEM;
	for (size_t i = 0; i < reader->nr_segments; i++)
		reader->segments[i] = widen_segment((Elf32_Phdr *)raw + i);
	return 0;
}

/* With 65280 sections or more, e_shnum is 0 and the number is the size of section 0 (ELF, "Special
 * Sections"). */
static int count_sections(const struct elf_reader *reader, const Elf64_Ehdr *header,
			  size_t *ret_nr_sections)
{
	union {
		Elf32_Shdr s32;
		Elf64_Shdr s64;
	} first;
	size_t entry_bytes = reader->is_64 ? sizeof(first.s64) : sizeof(first.s32);

	if (header->e_shoff == 0 || header->e_shnum > 0) {
		*ret_nr_sections = header->e_shoff ? header->e_shnum : 0;
		return 0;
	}

	int r = elf_reader_read(reader, header->e_shoff, &first, entry_bytes);
	if (r < 0)
		return r;
	uint64_t nr_sections = reader->is_64 ? first.s64.sh_size : first.s32.sh_size;
	if (nr_sections > ELF_MAX_SECTIONS)
		return -EBADMSG;
	*ret_nr_sections = (size_t)nr_sections;
	return 0;
}

static int read_sections(struct elf_reader *reader, const Elf64_Ehdr *header)
{
	size_t entry_bytes = reader->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	_cleanup_free_ void *raw = NULL;
	size_t nr_sections;

	int r = count_sections(reader, header, &nr_sections);
	if (r < 0 || nr_sections == 0)
		return r;
	if (header->e_shentsize != entry_bytes)
		return -EBADMSG;

	r = read_entries(reader, header->e_shoff, nr_sections, entry_bytes, &raw);
	if (r < 0)
		return r;
	reader->nr_sections = nr_sections;
	if (reader->is_64) {
		reader->sections = take_ptr(raw);
		return 0;
	}
	reader->sections = calloc(nr_sections, sizeof(Elf64_Shdr));
	if (!reader->sections)
		return -ENOMEM;
	for (size_t i = 0; i < nr_sections; i++)
		reader->sections[i] = widen_section((Elf32_Shdr *)raw + i);
	return 0;
}

static int read_all_headers(struct elf_reader *reader)
{
	Elf64_Ehdr header;

	int r = read_header(reader, &header);
	if (r < 0)
		return r;
	reader->machine = header.e_machine;

	r = read_segments(reader, &header);
	if (r < 0)
		return r;
	return read_sections(reader, &header);
}

int elf_reader_init(struct elf_reader *reader, int fd)
{
	struct elf_reader fresh = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	fresh.size = (uint64_t)st.st_size;

	int r = read_all_headers(&fresh);
	if (r < 0) {
		elf_reader_done(&fresh);
		return r;
	}
	*reader = fresh;
	return 0;
}

void elf_reader_done(struct elf_reader *reader)
{
	free(reader->sections);
	free(reader->segments);
	*reader = (struct elf_reader){ .fd = -EBADF };
}

const Elf64_Shdr *elf_reader_find_section(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->nr_sections; i++)
		if (reader->sections[i].sh_type == type)
			return &reader->sections[i];
	return NULL;
}

size_t elf_reader_symbol_bytes(const struct elf_reader *reader)
{
	return reader->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

Elf64_Sym elf_reader_symbol(const struct elf_reader *reader, const void *raw)
{
	Elf32_Sym s32;
	Elf64_Sym s64;

	if (reader->is_64) {
		memcpy(&s64, raw, sizeof(s64));
		return s64;
	}
	memcpy(&s32, raw, sizeof(s32));
	return (Elf64_Sym){
		.st_name = s32.st_name,
		.st_info = s32.st_info,
		.st_other = s32.st_other,
		.st_shndx = s32.st_shndx,
		.st_value = s32.st_value,
		.st_size = s32.st_size,
	};
}

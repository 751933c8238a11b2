/* SPDX-License-Identifier: Apache-2.0 */
/* The supplementary file of .gnu_debugaltlink is made by dwz and shared by several files. If none
 * is set, libdw opens it by its path at the first reference to it. The worker may not open files,
 * so a supplementary file is always set. If there is no real one, it is the smallest image that
 * libdw accepts as debug information, and references into it fail. */
#include "symbol/dwarf/dwarf_file.h"

#include <elfutils/libdwelf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECTION_NULL, SECTION_LINES, SECTION_NAMES, NR_SECTIONS };

struct empty_image {
	Elf64_Ehdr header;
	Elf64_Shdr sections[NR_SECTIONS];
	char names[16];
	char lines[8];
};

/* libelf requires writable memory, but only reads it. */
static struct empty_image empty_image = {
	.header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
			     BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct empty_image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = NR_SECTIONS,
		.e_shstrndx = SECTION_NAMES,
	},
	.sections = {
		[SECTION_LINES] = {
			.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_offset = offsetof(struct empty_image, lines),
			.sh_size = sizeof(empty_image.lines),
			.sh_addralign = 1,
		},
		[SECTION_NAMES] = {
			.sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct empty_image, names),
			.sh_size = sizeof(empty_image.names),
			.sh_addralign = 1,
		},
	},
	.names = "\0.debug_line",
};

/* libdw calls this when it has no memory, and cannot continue if this returns. */
static __attribute__((noreturn)) void end_worker(void)
{
	_exit(EXIT_FAILURE);
}

static void close_side(struct dwarf_side *side)
{
	dwarf_end(side->dwarf);
	elf_end(side->elf);
	if (side->fd >= 0)
		close(side->fd);
	*side = (struct dwarf_side){ .fd = -EBADF };
}

const unsigned char *dwarf_section_end(Dwarf *dwarf, const void *byte)
{
	const unsigned char *at = byte;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(dwarf_getelf(dwarf), section));) {
		const Elf_Data *data = elf_getdata(section, NULL);
		const unsigned char *start = data ? data->d_buf : NULL;

		if (start && at >= start && at < start + data->d_size)
			return start + data->d_size;
	}
	return NULL;
}

/* Returns whether it is .debug_str, .debug_line_str or a similar section. */
static bool has_strings(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0 || !gelf_getshdr(section, &header))
		return false;
	const char *name = elf_strptr(elf, names, header.sh_name);
	return name && strstr(name, "debug_") && strstr(name, "_str") && !strstr(name, "_offsets");
}

/* Returns whether every section of strings ends with a NUL, so that each string in it ends. libdw
 * relies on this without a check. */
static bool do_strings_end(const struct dwarf_side *side)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(side->elf, section));) {
		const Elf_Data *data = has_strings(side->elf, section) ? elf_getdata(section, NULL)
								       : NULL;

		if (data && data->d_buf && data->d_size > 0 &&
		    ((const char *)data->d_buf)[data->d_size - 1] != '\0')
			return false;
	}
	return true;
}

static int read_dwarf(struct dwarf_side *side)
{
	side->dwarf = dwarf_begin_elf(side->elf, DWARF_C_READ, NULL);
	if (!side->dwarf)
		return -ENOENT;
	dwarf_new_oom_handler(side->dwarf, end_worker);
	return do_strings_end(side) ? 0 : -EBADMSG;
}

static int open_elf(struct dwarf_side *side, int fd)
{
	elf_version(EV_CURRENT);
	side->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (side->fd < 0)
		return -errno;
	side->elf = elf_begin(side->fd, ELF_C_READ_MMAP, NULL);
	return side->elf && elf_kind(side->elf) == ELF_K_ELF ? 0 : -EBADMSG;
}

static bool is_referred_to(Dwarf *dwarf, Elf *supplementary)
{
	const char *name;
	const void *wanted;
	const void *id;
	ssize_t wanted_len = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &wanted);
	ssize_t len = dwelf_elf_gnu_build_id(supplementary, &id);

	return wanted_len > 0 && wanted_len == len && memcmp(wanted, id, (size_t)len) == 0;
}

static int open_supplementary(struct dwarf_file *file, int fd)
{
	struct dwarf_side *side = &file->supplementary;

	if (fd >= 0 && open_elf(side, fd) == 0 && is_referred_to(file->main.dwarf, side->elf) &&
	    read_dwarf(side) == 0)
		return 0;
	close_side(side);
	side->elf = elf_memory((char *)&empty_image, sizeof(empty_image));
	return side->elf && read_dwarf(side) == 0 ? 0 : -ENOMEM;
}

int dwarf_file_open(struct dwarf_file *file, int fd, int alt_fd)
{
	*file = (struct dwarf_file){ .main.fd = -EBADF, .supplementary.fd = -EBADF };

	int r = open_elf(&file->main, fd);
	if (r == 0)
		r = read_dwarf(&file->main);
	if (r == 0)
		r = open_supplementary(file, alt_fd);
	if (r < 0) {
		dwarf_file_close(file);
		return r;
	}
	dwarf_setalt(file->main.dwarf, file->supplementary.dwarf);
	return 0;
}

void dwarf_file_close(struct dwarf_file *file)
{
	close_side(&file->main);
	close_side(&file->supplementary);
}

int dwarf_file_forget(struct dwarf_file *file)
{
	dwarf_end(file->main.dwarf);
	dwarf_end(file->supplementary.dwarf);
	file->supplementary.dwarf = NULL;
	if (read_dwarf(&file->main) < 0 || read_dwarf(&file->supplementary) < 0) {
		dwarf_file_close(file);
		return -ENOMEM;
	}
	dwarf_setalt(file->main.dwarf, file->supplementary.dwarf);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded_files.h"

#include "base/err.h"

#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 16
#define MAX_FDES 256 /* kept, of a file */
#define PADDING 16 /* between functions */
#define LINE_BYTES 32

struct recorded_file {
	char *name; /* owned */
	uint8_t *data; /* owned; its .eh_frame */
	size_t len;
	uint64_t address; /* virtual, of the data */
	uint64_t delta; /* virtual address - file offset, of its code */
	size_t fdes[MAX_FDES]; /* offsets in the data, in ascending order */
	size_t nr_fdes;
};

static struct recorded_file files[MAX_FILES];
static size_t nr_files;

char *recorded_name(const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		err(1, "strdup");
	return copy;
}

void recorded_must_fit(size_t nr, size_t max, const char *what)
{
	if (nr >= max)
		errx(1, "too many %s", what);
}

const char *recorded_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "[vdso]" in the maps, "[vdso: 1234]" in libdwfl. */
static bool is_vdso(const char *name)
{
	return strncmp(name, "[vdso", 5) == 0;
}

size_t recorded_slot(const char *path)
{
	for (size_t i = 0; i < nr_files; i++)
		if (strcmp(files[i].name, path) == 0 || (is_vdso(files[i].name) && is_vdso(path)))
			return i + 1;
	return 0;
}

static void load_eh_frame(struct recorded_file *file, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names, nr_headers;

	if (elf_getshdrstrndx(elf, &names) < 0 || elf_getphdrnum(elf, &nr_headers) < 0)
		errx(1, "%s: %s", file->name, elf_errmsg(-1));
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		gelf_getshdr(section, &header);
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		file->len = header.sh_size;
		file->address = header.sh_addr;
		file->data = malloc(file->len);
		if (!file->data)
			err(1, "malloc");
		memcpy(file->data, elf_rawdata(section, NULL)->d_buf, file->len);
	}
	for (size_t i = 0; i < nr_headers; i++) {
		GElf_Phdr header;

		gelf_getphdr(elf, (int)i, &header);
		if (header.p_type == PT_LOAD && header.p_flags & PF_X)
			file->delta = header.p_vaddr - header.p_offset;
	}
}

struct recorded_file *recorded_file_get(const char *name, Elf *elf)
{
	size_t slot = recorded_slot(name);

	if (slot > 0)
		return &files[slot - 1];
	recorded_must_fit(nr_files, array_len(files), "files");
	files[nr_files].name = recorded_name(name);
	load_eh_frame(&files[nr_files], elf);
	return &files[nr_files++];
}

static uint32_t word_at(const struct recorded_file *file, size_t offset)
{
	uint32_t word;

	if (offset + sizeof(word) > file->len)
		errx(1, "%s: .eh_frame ends early", file->name);
	memcpy(&word, file->data + offset, sizeof(word));
	return word;
}

static void keep_fde(struct recorded_file *file, size_t offset)
{
	size_t i = 0;

	while (i < file->nr_fdes && file->fdes[i] < offset)
		i++;
	if (i < file->nr_fdes && file->fdes[i] == offset)
		return;
	recorded_must_fit(file->nr_fdes, array_len(file->fdes), "functions");
	memmove(&file->fdes[i + 1], &file->fdes[i], (file->nr_fdes - i) * sizeof(*file->fdes));
	file->fdes[i] = offset;
	file->nr_fdes++;
}

/* Pointers are DW_EH_PE_pcrel | DW_EH_PE_sdata4, as gcc, clang and binutils write them. */
static uint64_t fde_start(const struct recorded_file *file, size_t at)
{
	return file->address + at + 8 + (uint64_t)(int32_t)word_at(file, at + 8);
}

/* The FDE of the last function that begins at or before an address. */
static size_t find_fde(const struct recorded_file *file, uint64_t address)
{
	size_t found = SIZE_MAX;

	for (size_t at = 0; at + 16 <= file->len && word_at(file, at) != 0;
	     at += 4 + word_at(file, at)) {
		if (word_at(file, at + 4) == 0 || fde_start(file, at) > address)
			continue;
		if (found == SIZE_MAX || fde_start(file, at) > fde_start(file, found))
			found = at;
	}
	return found;
}

bool recorded_file_keep(struct recorded_file *file, uint64_t address)
{
	size_t fde = find_fde(file, address), before, behind;

	if (fde == SIZE_MAX)
		return false;
	before = find_fde(file, fde_start(file, fde) - 1);
	behind = find_fde(file, fde_start(file, fde) + word_at(file, fde + 12) + PADDING);
	keep_fde(file, fde);
	keep_fde(file, behind);
	if (before != SIZE_MAX)
		keep_fde(file, before);
	if (address - fde_start(file, fde) >= word_at(file, fde + 12))
		return false;
	/* The augmentation string of its CIE. */
	return strchr((const char *)file->data + fde + 4 - word_at(file, fde + 4) + 9, 'S');
}

void recorded_hex(FILE *out, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", data[i]);
	fprintf(out, "\n");
}

static void write_bytes(FILE *out, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i += LINE_BYTES) {
		fprintf(out, "bytes ");
		recorded_hex(out, data + i, len - i < LINE_BYTES ? len - i : LINE_BYTES);
	}
}

/* Appends an entry, its pointers made right for the new place, and returns where it is. */
static size_t copy_entry(const struct recorded_file *file, size_t from, uint8_t *out, size_t *len)
{
	size_t bytes = 4 + word_at(file, from), at = *len;

	memcpy(out + at, file->data + from, bytes);
	*len += bytes;
	return at;
}

static void copy_fde(const struct recorded_file *file, size_t from, size_t cie, uint8_t *out,
		     size_t *len)
{
	size_t at = copy_entry(file, from, out, len);
	uint32_t cie_pointer = (uint32_t)(at + 4 - cie);
	uint32_t start = word_at(file, from + 8) + (uint32_t)(from - at);

	memcpy(out + at + 4, &cie_pointer, sizeof(cie_pointer));
	memcpy(out + at + 8, &start, sizeof(start));
}

/* A section of the kept functions alone, at the same address. */
static void write_eh_frame(FILE *out, const struct recorded_file *file)
{
	uint8_t *reduced = calloc(2, file->len + 8);
	size_t len = 0, cie_from = SIZE_MAX, cie = 0;

	if (!reduced)
		err(1, "malloc");
	for (size_t i = 0; i < file->nr_fdes; i++) {
		size_t from = file->fdes[i] + 4 - word_at(file, file->fdes[i] + 4);

		if (from != cie_from)
			cie = copy_entry(file, from, reduced, &len);
		cie_from = from;
		copy_fde(file, file->fdes[i], cie, reduced, &len);
	}
	memset(reduced + len, 0, 4);
	fprintf(out, "eh_frame %lx\n", file->address);
	write_bytes(out, reduced, len + 4);
	free(reduced);
}

void recorded_files_write(FILE *out)
{
	for (size_t i = 0; i < nr_files; i++) {
		const char *name = files[i].name;

		fprintf(out, "file %zu %lx %s\n", i + 1, files[i].delta,
			is_vdso(name) ? "vdso" : recorded_base_name(name));
		if (files[i].nr_fdes)
			write_eh_frame(out, &files[i]);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* libelf is used twice. First it converts the file header alone, which it returns in its
 * 64-bit form for both classes. Then both tables of headers are checked and read, and
 * libelf gets the whole image.
 *
 * The image is read-only where nothing was read yet, so that the address space of a large file does
 * not count as data of the process (RLIMIT_DATA). A page counts from when it is read.
 *
 * libelf allocates at most its own structures for the sections: 13 MB for 65536 of them. They are
 * charged to the budget, too. */
#include "elf/elf_reader.h"

#include "base/cleanup.h"

#include <endian.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define LIBELF_SECTION_BYTES 208 /* allocated by libelf for each section */

#define OWN_BYTE_ORDER (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

int elf_reader_read(const struct elf_reader *reader, uint64_t offset, void *buf, size_t len)
{
	char *to = buf;

	if (offset > reader->size || len > reader->size - offset)
		return -EBADMSG;
	if (reader->fd < 0) {
		memcpy(to, reader->image + offset, len);
		return 0;
	}
	while (len > 0) {
		ssize_t n = cold_file_pread(reader->cold, to, len, offset);

		if (n <= 0)
			return n < 0 ? (int)n : -EBADMSG;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_pages(struct elf_reader *reader, size_t first, size_t nr)
{
	size_t start = first * reader->page_bytes;
	size_t left = (size_t)reader->size - start;
	size_t len = left < nr * reader->page_bytes ? left : nr * reader->page_bytes;

	int r = elf_budget_take(reader->budget, (uint64_t)nr * reader->page_bytes);
	if (r < 0)
		return r;
	if (mprotect(reader->image + start, len, PROT_READ | PROT_WRITE) < 0)
		return -errno;
	r = elf_reader_read(reader, start, reader->image + start, len);
	if (r < 0)
		return r;
	memset(reader->has_page + first, true, nr);
	return 0;
}

/* Returns how many of `nr` pages precede the first one with data (SEEK_DATA) or with a hole
 * (SEEK_HOLE); `unknown` if the file system does not report it. */
static size_t count_pages_to(const struct elf_reader *reader, size_t first, size_t nr, int whence,
			     size_t unknown)
{
	off_t found = lseek(reader->fd, (off_t)(first * reader->page_bytes), whence);
	size_t page = found < 0 ? 0 : (size_t)found / reader->page_bytes;

	if (found < 0)
		return errno == ENXIO ? nr : unknown;
	if (whence == SEEK_HOLE && (size_t)found % reader->page_bytes > 0)
		page++;
	return page - first < nr ? page - first : nr;
}

/* Loads pages none of which was read yet. */
static int load_pages(struct elf_reader *reader, size_t first, size_t nr)
{
	int r = 0;

	for (size_t end = first + nr; r == 0 && first < end;) {
		size_t nr_empty = count_pages_to(reader, first, end - first, SEEK_DATA, 0);
		size_t nr_full;

		memset(reader->has_page + first, true, nr_empty);
		first += nr_empty;
		if (first == end)
			break;
		nr_full = count_pages_to(reader, first, end - first, SEEK_HOLE, end - first);
		if (nr_full == 0) /* the file has changed */
			nr_full = end - first;
		r = read_pages(reader, first, nr_full);
		first += nr_full;
	}
	return r;
}

/* Reads the pages of a range into the image, unless they are there already. */
static int load(struct elf_reader *reader, uint64_t offset, uint64_t len)
{
	if (offset > reader->size || len > reader->size - offset)
		return -EBADMSG;
	if (len == 0 || !reader->has_page)
		return 0;

	size_t end = (size_t)((offset + len - 1) / reader->page_bytes) + 1;
	for (size_t page = (size_t)(offset / reader->page_bytes), nr; page < end; page += nr + 1) {
		nr = 0;
		while (page + nr < end && !reader->has_page[page + nr])
			nr++;

		int r = nr > 0 ? load_pages(reader, page, nr) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Gives libelf the first `len` bytes of the image. */
static int show_image(struct elf_reader *reader, size_t len)
{
	elf_end(reader->elf);
	errno = 0;
	reader->elf = elf_memory(reader->image, len);
	if (!reader->elf)
		return errno == ENOMEM ? -ENOMEM : -EBADMSG;
	return elf_kind(reader->elf) == ELF_K_ELF ? 0 : -EBADMSG;
}

static int read_header(struct elf_reader *reader, GElf_Ehdr *ret_header)
{
	GElf_Ehdr header;
	size_t len = sizeof(header) < reader->size ? sizeof(header) : (size_t)reader->size;

	int r = load(reader, 0, len);
	if (r < 0)
		return r;
	r = show_image(reader, len);
	if (r < 0)
		return r;
	if (!gelf_getehdr(reader->elf, &header) || header.e_ident[EI_DATA] != OWN_BYTE_ORDER)
		return -EBADMSG;
	*ret_header = header;
	return 0;
}

/* A number of segments that does not fit into e_phnum (PN_XNUM) is over the limit, too. */
static int load_segments(struct elf_reader *reader, const GElf_Ehdr *header)
{
	size_t entry_bytes = elf_reader_entry_bytes(reader, ELF_T_PHDR);

	if (header->e_phnum == 0)
		return 0;
	if (header->e_phentsize != entry_bytes || header->e_phnum > ELF_MAX_SEGMENTS)
		return -EBADMSG;
	return load(reader, header->e_phoff, header->e_phnum * entry_bytes);
}

/* With 65280 sections or more, e_shnum is 0, and their number is the size of section 0 (ELF,
 * "Special Sections"). libelf would accept any number. */
static int count_sections(struct elf_reader *reader, const GElf_Ehdr *header, uint64_t *ret_nr)
{
	size_t entry_bytes = elf_reader_entry_bytes(reader, ELF_T_SHDR);

	if (header->e_shnum > 0) {
		*ret_nr = header->e_shnum;
		return 0;
	}

	int r = load(reader, header->e_shoff, entry_bytes);
	if (r < 0)
		return r;

	const char *first = reader->image + header->e_shoff;
	if (entry_bytes == sizeof(Elf64_Shdr)) {
		memcpy(ret_nr, first + offsetof(Elf64_Shdr, sh_size), sizeof(*ret_nr));
	} else {
		Elf32_Word nr;

		memcpy(&nr, first + offsetof(Elf32_Shdr, sh_size), sizeof(nr));
		*ret_nr = nr;
	}
	return 0;
}

static int load_sections(struct elf_reader *reader, const GElf_Ehdr *header)
{
	size_t entry_bytes = elf_reader_entry_bytes(reader, ELF_T_SHDR);
	uint64_t nr_sections;

	if (header->e_shoff == 0)
		return 0;

	int r = count_sections(reader, header, &nr_sections);
	if (r < 0 || nr_sections == 0)
		return r;
	if (header->e_shentsize != entry_bytes || nr_sections > ELF_MAX_SECTIONS)
		return -EBADMSG;
	return load(reader, header->e_shoff, nr_sections * entry_bytes);
}

static int copy_segments(struct elf_reader *reader)
{
	size_t nr;

	if (elf_getphdrnum(reader->elf, &nr) < 0)
		return -EBADMSG;

	int r = elf_budget_take(reader->budget, (nr + 1) * sizeof(*reader->segments));
	if (r < 0)
		return r;
	reader->segments = calloc(nr + 1, sizeof(*reader->segments));
	if (!reader->segments)
		return -ENOMEM;
	for (; reader->nr_segments < nr; reader->nr_segments++)
		if (!gelf_getphdr(reader->elf, (int)reader->nr_segments,
				  &reader->segments[reader->nr_segments]))
			return -EBADMSG;
	return 0;
}

/* Copies section 0 as zeros, so that a section's index is its place in the array. */
static int copy_sections(struct elf_reader *reader)
{
	size_t nr;

	if (elf_getshdrnum(reader->elf, &nr) < 0)
		return -EBADMSG;

	int r = elf_budget_take(reader->budget,
				(nr + 1) * (sizeof(*reader->sections) + LIBELF_SECTION_BYTES));
	if (r < 0)
		return r;
	reader->sections = calloc(nr + 1, sizeof(*reader->sections));
	if (!reader->sections)
		return -ENOMEM;
	reader->nr_sections = nr;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(reader->elf, section));)
		if (!gelf_getshdr(section, &reader->sections[elf_ndxscn(section)]))
			return -EBADMSG;
	return 0;
}

static int read_all_headers(struct elf_reader *reader)
{
	GElf_Ehdr header;

	int r = read_header(reader, &header);
	if (r < 0)
		return r;
	reader->machine = header.e_machine;

	r = load_segments(reader, &header);
	if (r == 0)
		r = load_sections(reader, &header);
	if (r == 0)
		r = show_image(reader, (size_t)reader->size);
	if (r == 0)
		r = copy_segments(reader);
	return r < 0 || header.e_shoff == 0 ? r : copy_sections(reader);
}

static int reserve_image(struct elf_reader *reader)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t nr_pages = (size_t)(reader->size / page_bytes) + 1;
	void *image;

	int r = elf_budget_take(reader->budget, nr_pages);
	if (r < 0)
		return r;
	reader->has_page = calloc(nr_pages, sizeof(bool));
	if (!reader->has_page)
		return -ENOMEM;
	image = mmap(NULL, (size_t)reader->size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED)
		return -errno;
	reader->image = image;
	reader->page_bytes = page_bytes;
	return 0;
}

/* Initializes a reader that has its image. Takes `fresh` over. */
static int finish_init(struct elf_reader *fresh, struct elf_reader *ret_reader)
{
	(void)elf_version(EV_CURRENT);

	int r = read_all_headers(fresh);
	if (r < 0) {
		elf_reader_done(fresh);
		return r;
	}
	*ret_reader = *fresh;
	return 0;
}

int elf_reader_init_within(struct elf_reader *reader, int fd, struct elf_budget *budget)
{
	struct elf_reader fresh = { .fd = fd, .budget = budget };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	fresh.size = (uint64_t)st.st_size;
	if (!S_ISREG(st.st_mode) || fresh.size == 0 || fresh.size > ELF_MAX_FILE_BYTES)
		return -EBADMSG;
	fresh.cold = malloc(sizeof(*fresh.cold));
	if (!fresh.cold)
		return -ENOMEM;
	cold_file_init(fresh.cold, fd);

	int r = reserve_image(&fresh);
	if (r < 0) {
		elf_reader_done(&fresh);
		return r;
	}
	return finish_init(&fresh, reader);
}

int elf_reader_init(struct elf_reader *reader, int fd)
{
	return elf_reader_init_within(reader, fd, NULL);
}

int elf_reader_init_bytes(struct elf_reader *reader, const void *bytes, size_t len)
{
	struct elf_reader fresh = { .fd = -EBADF, .size = len, .image = (char *)bytes };

	return len == 0 ? -EBADMSG : finish_init(&fresh, reader);
}

void elf_reader_let_go(struct elf_reader *reader)
{
	if (reader->cold)
		cold_file_done(reader->cold);
	free(reader->cold);
	reader->cold = NULL;
	reader->fd = -EBADF;
}

void elf_reader_done(struct elf_reader *reader)
{
	free(reader->sections);
	free(reader->segments);
	elf_end(reader->elf);
	if (reader->has_page && reader->image)
		munmap(reader->image, (size_t)reader->size);
	free(reader->has_page);
	elf_reader_let_go(reader);
	*reader = (struct elf_reader){ .fd = -EBADF };
}

int elf_reader_bytes(struct elf_reader *reader, uint64_t offset, uint64_t len,
		     const uint8_t **ret_bytes)
{
	int r = load(reader, offset, len);

	if (r < 0)
		return r;
	*ret_bytes = (const uint8_t *)reader->image + offset;
	return 0;
}

/* elf_getdata() would refuse a table that ends with half an entry. */
int elf_reader_data(struct elf_reader *reader, uint64_t offset, uint64_t len, Elf_Type type,
		    Elf_Data **ret_data)
{
	int r = load(reader, offset, len);

	if (r < 0)
		return r;
	Elf_Data *data = elf_getdata_rawchunk(reader->elf, (int64_t)offset, (size_t)len, type);
	if (!data)
		return -ENOMEM;
	*ret_data = data;
	return 0;
}

const GElf_Shdr *elf_reader_find_section(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->nr_sections; i++)
		if (reader->sections[i].sh_type == type)
			return &reader->sections[i];
	return NULL;
}

size_t elf_reader_entry_bytes(const struct elf_reader *reader, Elf_Type type)
{
	return gelf_fsize(reader->elf, type, 1, EV_CURRENT);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cold_file.h"

#include "base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whole pages of a file. */
struct pages {
	uint64_t start; /* bytes */
	size_t nr;
	size_t page_bytes;
	unsigned char were_there[COLD_FILE_MAX_PAGES]; /* bit 0 counts */
};

void cold_file_init(struct cold_file *file, int fd)
{
	*file = (struct cold_file){ .fd = fd };
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

void cold_file_drop_all(int fd)
{
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void drop_ranges(struct cold_file *file)
{
	for (size_t i = 0; i < file->nr_ranges; i++)
		(void)posix_fadvise(file->fd, (off_t)file->ranges[i].start,
				    (off_t)file->ranges[i].len, POSIX_FADV_DONTNEED);
	file->nr_ranges = 0;
	file->nr_bytes = 0;
}

void cold_file_done(struct cold_file *file)
{
	drop_ranges(file);
}

/* Files are mostly read from front to back: a range goes on where the last one ends. */
static void add_range(struct cold_file *file, uint64_t start, uint64_t len)
{
	struct cold_range *last = file->nr_ranges ? &file->ranges[file->nr_ranges - 1] : NULL;

	file->nr_bytes += len;
	if (last && last->start + last->len == start)
		last->len += len;
	else
		file->ranges[file->nr_ranges++] = (struct cold_range){ start, len };
	if (file->nr_ranges == COLD_FILE_MAX_RANGES || file->nr_bytes >= COLD_FILE_MAX_BYTES)
		drop_ranges(file);
}

/* Notes which pages are cached. Returns false if the kernel does not tell. The mapping is never
 * accessed. */
static bool look(int fd, struct pages *pages)
{
	size_t len = pages->nr * pages->page_bytes;
	void *mapping = mmap(NULL, len, PROT_NONE, MAP_PRIVATE, fd, (off_t)pages->start);

	if (mapping == MAP_FAILED)
		return false;
	int r = mincore(mapping, len, pages->were_there);
	munmap(mapping, len);
	return r == 0;
}

static void add_new_pages(struct cold_file *file, const struct pages *pages)
{
	for (size_t first = 0, end; first < pages->nr; first = end + 1) {
		end = first;
		while (end < pages->nr && !(pages->were_there[end] & 1))
			end++;
		if (end > first)
			add_range(file, pages->start + first * pages->page_bytes,
				  (end - first) * pages->page_bytes);
	}
}

ssize_t cold_file_pread(struct cold_file *file, void *buf, size_t len, uint64_t offset)
{
	struct pages pages = { .page_bytes = (size_t)sysconf(_SC_PAGESIZE) };
	size_t skipped = (size_t)(offset % pages.page_bytes);
	size_t max_len = COLD_FILE_MAX_PAGES * pages.page_bytes - skipped;

	if (len > max_len)
		len = max_len;
	pages.start = offset - skipped;
	pages.nr = (skipped + len + pages.page_bytes - 1) / pages.page_bytes;

	bool is_known = look(file->fd, &pages);
	ssize_t n;
	do
		n = pread(file->fd, buf, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	if (is_known)
		add_new_pages(file, &pages);
	return n;
}

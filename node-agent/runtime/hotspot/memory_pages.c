/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/memory_pages.h"

#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

int memory_pages_init(struct memory_pages *pages, struct process_memory *memory)
{
	pages->memory = memory;
	pages->bytes = calloc(MEMORY_PAGES_NR, MEMORY_PAGE_BYTES);
	for (size_t i = 0; i < MEMORY_PAGES_NR; i++)
		pages->addresses[i] = 1;
	return pages->bytes ? 0 : -ENOMEM;
}

void memory_pages_done(struct memory_pages *pages)
{
	free(pages->bytes);
	pages->bytes = NULL;
}

static int get_page(struct memory_pages *pages, uint64_t address, const char **ret_bytes)
{
	size_t place = address / MEMORY_PAGE_BYTES % MEMORY_PAGES_NR;
	char *bytes = pages->bytes + place * MEMORY_PAGE_BYTES;

	if (pages->addresses[place] != address) {
		pages->addresses[place] = 1;
		int r = process_memory_read(pages->memory, address, bytes, MEMORY_PAGE_BYTES);
		if (r < 0)
			return r;
		pages->addresses[place] = address;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Reads up to the end of the page. */
static int read_part(struct memory_pages *pages, uint64_t address, void *to, size_t *len)
{
	uint64_t offset = address % MEMORY_PAGE_BYTES;
	const char *bytes;
	int r = get_page(pages, address - offset, &bytes);

	if (r < 0)
		return r;
	*len = min_u64(*len, MEMORY_PAGE_BYTES - offset);
	memcpy(to, bytes + offset, *len);
	return 0;
}

int memory_pages_read(struct memory_pages *pages, uint64_t address, void *to, size_t len)
{
	char *at = to;

	while (len > 0) {
		size_t part = len;
		int r = read_part(pages, address, at, &part);

		if (r < 0)
			return r;
		address += part;
		at += part;
		len -= part;
	}
	return 0;
}

int memory_pages_read_u64(struct memory_pages *pages, uint64_t address, uint64_t *ret)
{
	return memory_pages_read(pages, address, ret, sizeof(*ret));
}

int memory_pages_read_string(struct memory_pages *pages, uint64_t address, char *to, size_t size)
{
	size_t len = 0;

	while (len < size) {
		size_t part = size - len;
		int r = read_part(pages, address + len, to + len, &part);

		if (r < 0)
			return r;
		if (memchr(to + len, '\0', part))
			return 0;
		len += part;
	}
	return -EBADMSG;
}

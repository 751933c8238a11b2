/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_version.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_data_scan.h"

#include <stdbool.h>
#include <string.h>

#define PATCH_SHIFT 8
#define SYMBOL(part) "_ZN2v88internal7Version6" part "_E"

/* In a text: the version of V8 goes on to x.9, and then with the next major one. */
#define MIN_MAJOR 10
#define MAX_MINOR 9
#define MAX_DIGITS 4
#define MAX_TEXT 20

enum { MAJOR, MINOR, BUILD, PATCH, NR_PARTS };

static uint32_t version_of(int32_t major, int32_t minor, int32_t patch)
{
	return ((uint32_t)major & 0xff) << V8_MAJOR_SHIFT |
	       ((uint32_t)minor & 0xff) << V8_MINOR_SHIFT | ((uint32_t)patch & 0xff) << PATCH_SHIFT;
}

int v8_version_exported(const struct elf_exports *exports, uint32_t *ret_version)
{
	static const char *const symbols[] = { SYMBOL("major"), SYMBOL("minor"), SYMBOL("patch") };
	int32_t numbers[array_len(symbols)] = { 0 };

	for (size_t i = 0; i < array_len(symbols); i++) {
		struct elf_export found;
		int r = elf_exports_find(exports, symbols[i], &found);

		if (r == 0)
			r = elf_exports_read(exports, found.address, &numbers[i],
					     sizeof(numbers[i]));
		if (r < 0 && r != -ENOENT)
			return r;
	}
	*ret_version = version_of(numbers[0], numbers[1], numbers[2]);
	return 0;
}

/* Reads the first digits of a text as a number. Returns how many there are. */
static size_t read_number(const uint8_t *text, int32_t *ret_number)
{
	int32_t number = 0;
	size_t nr = 0;

	for (; nr < MAX_DIGITS && text[nr] >= '0' && text[nr] <= '9'; nr++)
		number = 10 * number + (text[nr] - '0');
	*ret_number = number;
	return nr;
}

/* Returns the version whose text begins there, else 0. MAX_TEXT bytes are readable. */
static uint32_t read_text(const uint8_t *text)
{
	int32_t numbers[NR_PARTS];

	for (size_t i = 0; i < NR_PARTS; i++) {
		size_t nr = read_number(text, &numbers[i]);

		if (nr == 0 || (i + 1 < NR_PARTS && text[nr] != '.'))
			return 0;
		text += nr + (i + 1 < NR_PARTS);
	}
	if ((*text != '\0' && *text != '-') || numbers[MAJOR] < MIN_MAJOR ||
	    numbers[MAJOR] > UINT8_MAX || numbers[MINOR] > MAX_MINOR)
		return 0;
	return version_of(numbers[MAJOR], numbers[MINOR], numbers[PATCH]);
}

static int search_chunk(const struct v8_data_chunk *chunk, void *data)
{
	uint32_t *version = data;

	for (size_t at = 0; at + 1 + MAX_TEXT <= chunk->len; at++) {
		if (chunk->bytes[at] != '\0' || chunk->bytes[at + 3] != '.')
			continue;
		*version = read_text(chunk->bytes + at + 1);
		if (*version != 0)
			return 1;
	}
	return 0;
}

int v8_version_in_data(const struct elf_reader *reader, uint32_t *ret_version)
{
	uint32_t version = 0;

	int r = v8_data_scan(reader, search_chunk, &version);
	if (r < 0)
		return r;
	*ret_version = version;
	return 0;
}

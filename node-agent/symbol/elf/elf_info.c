/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/elf_info.h"

#include "elf/debug_link.h"
#include "symbol/elf/htlhash.h"

#include <string.h>

#define MAX_LINK_BYTES 4096

/* Returns the content of a small section; NULL if there is none. */
static const uint8_t *find_content(struct elf_reader *reader, const struct elf_section_names *names,
				   const char *name, size_t *ret_len)
{
	const GElf_Shdr *section = elf_section_find(names, reader, name);
	const uint8_t *bytes;

	if (!section || section->sh_size > MAX_LINK_BYTES ||
	    elf_reader_bytes(reader, section->sh_offset, section->sh_size, &bytes) < 0)
		return NULL;
	*ret_len = (size_t)section->sh_size;
	return bytes;
}

static void read_link(struct elf_reader *reader, const struct elf_section_names *names,
		      struct elf_symbols_info *info)
{
	size_t len;
	const uint8_t *bytes = find_content(reader, names, ".gnu_debuglink", &len);
	const char *name;
	uint32_t crc;

	if (!bytes || !debug_link_parse(bytes, len, &name, &crc) ||
	    strlen(name) > ELF_MAX_LINK_NAME)
		return;
	memcpy(info->link_name, name, strlen(name) + 1);
	info->link_crc = crc;
}

/* dwz(1) writes a file name, and behind it, up to the end of the section, the build id of that
 * file. */
static void read_alt_link(struct elf_reader *reader, const struct elf_section_names *names,
			  struct elf_symbols_info *info)
{
	size_t len;
	const uint8_t *bytes = find_content(reader, names, ".gnu_debugaltlink", &len);
	const uint8_t *end = bytes ? memchr(bytes, '\0', len) : NULL;

	if (!end)
		return;

	size_t id_len = len - (size_t)(end + 1 - bytes);
	if (id_len <= ELF_BUILD_ID_MAX)
		elf_build_id_to_hex(end + 1, id_len, info->alt_build_id);
}

static void read_htlhash(const struct elf_reader *reader, struct elf_symbols_info *info)
{
	struct htlhash_input input;

	if (htlhash_read(reader, &input) == 0)
		htlhash_of(&input, info->htlhash);
}

void elf_info_read(struct elf_reader *reader, const struct elf_section_names *names,
		   struct elf_symbols_info *info)
{
	_Static_assert(sizeof(info->build_id) == 2 * ELF_BUILD_ID_MAX + 1, "build id");
	_Static_assert(sizeof(info->go_build_id) == ELF_GO_BUILD_ID_MAX + 1, "Go's build id");
	_Static_assert(sizeof(info->htlhash) == HTLHASH_DIGITS + 1, "htlhash");
	info->has_debug_info = elf_section_find(names, reader, ".debug_info") ||
			       elf_section_find(names, reader, ".zdebug_info");
	elf_reader_build_id(reader, info->build_id);
	elf_reader_go_build_id(reader, info->go_build_id);
	read_htlhash(reader, info);
	read_link(reader, names, info);
	read_alt_link(reader, names, info);
}

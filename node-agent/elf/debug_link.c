/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/debug_link.h"

#include <string.h>

bool debug_link_parse(const uint8_t *link, size_t len, const char **ret_name, uint32_t *ret_crc)
{
	const uint8_t *end = memchr(link, '\0', len);
	const char *name = (const char *)link;
	size_t crc_offset;

	if (!end || end == link)
		return false;
	if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	crc_offset = ((size_t)(end - link) + 4) & ~(size_t)3;
	if (crc_offset > len || len - crc_offset < sizeof(*ret_crc))
		return false;
	memcpy(ret_crc, link + crc_offset, sizeof(*ret_crc));
	*ret_name = name;
	return true;
}

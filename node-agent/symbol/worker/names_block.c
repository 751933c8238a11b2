/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/names_block.h"

#include "symbol/demangle/demangle.h"

#include <stdbool.h>
#include <string.h>

const char *names_block_next(const char *name)
{
	return name + strlen(name) + 1;
}

static bool are_names_sound(const char *names, size_t len, uint32_t nr_names)
{
	size_t pos = 0;

	for (uint32_t i = 0; i < nr_names; i++) {
		size_t left = len - pos;
		size_t max = left <= DEMANGLE_MAX_BYTES ? left : DEMANGLE_MAX_BYTES + 1;
		size_t name_len = strnlen(names + pos, max);

		if (name_len == max)
			return false;
		pos += name_len + 1;
	}
	return pos == len;
}

int names_block_parse(const void *bytes, size_t len, uint32_t max_names, uint32_t max_detail,
		      struct names_block *ret_block)
{
	struct names_header header;

	if (len < sizeof(header))
		return -EBADMSG;
	memcpy(&header, bytes, sizeof(header));

	const char *names = (const char *)bytes + sizeof(header);
	if (header.nr_names == 0 || header.nr_names > max_names || header.detail > max_detail ||
	    !are_names_sound(names, len - sizeof(header), header.nr_names))
		return -EBADMSG;
	*ret_block = (struct names_block){
		.nr_names = header.nr_names,
		.detail = header.detail,
		.first = names,
	};
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/opener/mountinfo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct mountinfo_line line;

	for (uint32_t number = 0; number < 64; number++) {
		if (mountinfo_find_id(text, size, number, &line) &&
		    (line.type < text || line.type + line.type_len > text + size))
			abort();
		if (mountinfo_find_device(text, size, 0, number, &line) && line.type_len == 0)
			abort();
		(void)mountinfo_is_local(
			&(struct mountinfo_line){ .type = text, .type_len = size });
	}
	return 0;
}

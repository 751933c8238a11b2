/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/opener/mountinfo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cursor = text;
	struct mountinfo_line line;

	while (mountinfo_next(&cursor, text + size, &line)) {
		if (line.type_len == 0 || line.type < text ||
		    line.type + line.type_len > text + size)
			abort();
		(void)mountinfo_is_local(&line);
	}
	(void)mountinfo_is_local(&(struct mountinfo_line){ .type = text, .type_len = size });
	return 0;
}

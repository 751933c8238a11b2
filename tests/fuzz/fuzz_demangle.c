/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "symbol/demangle.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *name = strndup((const char *)data, size);

	if (!name)
		return 0;

	for (int style = DEMANGLE_NONE; style <= DEMANGLE_FULL; style++) {
		_cleanup_free_ char *pretty = demangle(name, (enum demangle_style)style);

		if (!pretty || (strlen(pretty) > DEMANGLE_MAX_BYTES && strcmp(pretty, name) != 0))
			abort();
	}
	return 0;
}

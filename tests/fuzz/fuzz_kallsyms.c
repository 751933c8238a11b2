/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel/kallsyms.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1000, UINT64_C(0xffffffff81000010),
					      UINT64_MAX };
	_cleanup_(kallsyms_freep) struct kallsyms *kallsyms = NULL;

	if (kallsyms_parse((const char *)data, size, &kallsyms) < 0)
		return 0;
	for (size_t i = 0; i < array_len(addresses); i++) {
		const char *module = "";
		const char *name = kallsyms_find(kallsyms, addresses[i], &module);

		if (name && strlen(name) + strlen(module) > size)
			abort();
	}
	return 0;
}

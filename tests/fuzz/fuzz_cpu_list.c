/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "capture/perf_events/cpu_list.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	const struct cpu_set_bits none = { 0 };
	struct cpu_set_bits set;

	if (text && cpu_list_parse(text, &set) == 0 && memcmp(&set, &none, sizeof(set)) == 0)
		abort();
	return 0;
}

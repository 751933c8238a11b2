/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a probe, as its note says where they are. */
#include "base/cleanup.h"
#include "bpf/shared/heap.h"
#include "elf/probe_argument.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = strndup((const char *)data, size);
	uint64_t arguments;

	if (text && probe_argument_parse_all(text, HEAP_MAX_ARGUMENTS, &arguments) == 0 &&
	    arguments >> (HEAP_MAX_ARGUMENTS * HEAP_ARGUMENT_BITS) != 0)
		abort();
	return 0;
}

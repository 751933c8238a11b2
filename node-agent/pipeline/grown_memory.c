/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/grown_memory.h"

#include "base/err.h"
#include "bpf/shared/growth.h"

#include <stddef.h>

static const char *const names[] = {
	[GROWN_FILE] = "[file pages]",
	[GROWN_ANONYMOUS] = "[anonymous memory]",
	[GROWN_SHARED] = "[shared memory]",
};

const char *grown_memory_name(uint8_t memory)
{
	return memory < array_len(names) && names[memory] ? names[memory] : "[memory]";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Inspects a JVM whose memory is the input, as in sparse_input.h. The exported symbols are at the
 * start of the memory. The values for the unwinder must be within their limits. */
#include "base/cleanup.h"
#include "runtime/hotspot/vm_structs.h"
#include "runtime/runtime.h"
#include "sparse_input.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTA_BYTES ((uint64_t)64 << 20)
#define FIRST_SYMBOL 0x100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_found(const struct runtime_found *found)
{
	check(found->state < RUNTIME_NR_STATES);
	check(memchr(found->reason, '\0', sizeof(found->reason)));
	check((found->state == RUNTIME_UNSUPPORTED) == (found->reason[0] != '\0'));
	if (found->state != RUNTIME_READY)
		return;
	check(found->has_process && found->layout.hotspot.log2_segment <= 31);
	for (int i = 0; i < RUNTIME_MAX_CODE; i++)
		check(found->process.code[i].start <= found->process.code[i].end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = sparse_input_open(data, size);
	struct runtime_file file = { .kind = RUNTIME_HOTSPOT };
	struct runtime_found found;

	if (fd < 0)
		return 0;
	struct process_memory memory = { .fd = fd, .nr_left = QUOTA_BYTES };
	for (unsigned int i = 0; i < VM_NR_SYMBOLS; i++)
		file.values[i] = FIRST_SYMBOL + 8ULL * i;
	int r = hotspot_runtime.inspect(&memory, &file, 0, &found);
	check(r == 0 || r == -EFAULT || r == -EDQUOT || r == -ENOMEM);
	if (r == 0)
		check_found(&found);
	return 0;
}

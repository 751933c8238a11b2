/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever registers, memory, mapping table and row table are: the unwinder reads nothing beside
 * them, and comes to one of its results with a stack of a length that a record holds. */
#include "tests/bpf_host/fake_bpf.h"
#include "unwind_input.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int result)
{
	if (result < 0 || result >= UNWIND_NR_RESULTS || fake_event()->nr_user < 1 ||
	    fake_event()->nr_user > MAX_USER_FRAMES)
		abort();
	if (result == UNWIND_TOO_DEEP && fake_event()->nr_user != MAX_USER_FRAMES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	fake_bpf_reset();
	unwind_input_fill(data, len);
	check(unwind_native());
	fake_bpf_reset();
	return 0;
}

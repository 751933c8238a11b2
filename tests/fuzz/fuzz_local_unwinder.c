/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever registers, stack, mapping table and row table are, and wherever the copy of the stack is
 * cut (first two bytes): the local unwinder reads nothing beside it, and finds no other frames than
 * in all of the stack, but for what the kernel's call chain has. */
#include "tests/bpf_host/fake_bpf.h"
#include "tests/bpf_host/local_bpf.h"
#include "unwind_input.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(int result, const struct sample_event *event)
{
	if (result < 0 || result >= UNWIND_NR_RESULTS || event->nr_user < 1 ||
	    event->nr_user > MAX_USER_FRAMES)
		abort();
	if (result == UNWIND_TOO_DEEP && event->nr_user != MAX_USER_FRAMES)
		abort();
}

static void check_part(int result, const struct sample_event *part, const struct sample_event *all)
{
	check(result, part);
	if (part->nr_user > all->nr_user ||
	    memcmp(part->frames + part->nr_kernel, all->frames + part->nr_kernel,
		   part->nr_user * sizeof(*part->frames)) != 0)
		abort();
	if (result == UNWIND_COMPLETE && part->nr_user != all->nr_user)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct sample_event all;
	size_t max_len;

	if (len < 2)
		return 0;
	max_len = data[0] | (size_t)(data[1] & 0x0f) << 8;
	fake_bpf_reset();
	unwind_input_fill(data + 2, len - 2);
	check(unwind_native(), fake_event());
	all = *fake_event();
	local_bpf_cut(max_len);
	check_part(unwind_native(), fake_event(), &all);
	local_bpf_set_chain(all.frames, all.nr_user);
	check(unwind_native(), fake_event());
	fake_bpf_reset();
	return 0;
}

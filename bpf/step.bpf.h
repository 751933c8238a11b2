/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of each step from a frame to its caller's. */
#ifndef BPF_STEP_BPF_H
#define BPF_STEP_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/unwind.bpf.h"

/* Sets the frame of the caller, which goes on at the address in `word`. */
static __always_inline int return_to(struct unwind_state *state, __u64 word, __u64 sp, __u32 known)
{
	__u64 address = return_address_of(word);

	if (address == 0)
		return UNWIND_COMPLETE;
	if (!is_code_address(address))
		return UNWIND_BAD_RETURN_ADDRESS;
	state->ip = address;
	state->regs[REG_SP] = sp;
	state->known = known;
	state->is_call = true;
	return GOES_ON;
}

#endif

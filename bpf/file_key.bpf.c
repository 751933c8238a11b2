/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells the agent what mappings know a file by: the agent maps the file itself, and asks at
 * which address. So both sides have the same numbers by the same code, whatever the file system
 * tells user space.
 *
 * Run by bpf(2), BPF_PROG_TEST_RUN, in the agent's context; attached nowhere. Argument: the
 * address. Returns 0, or 1 when there is no file.
 * Maps: vma_walks, found_file_key (out). */
#include "bpf/maps.bpf.h"
#include "bpf/vma.bpf.h"

SEC("raw_tp")
int file_key(struct bpf_raw_tracepoint_args *ctx)
{
	struct vma_walk *walk = get_walk(VMA_FOR_AGENT);
	__u32 zero = 0;
	struct file_key *found = bpf_map_lookup_elem(&found_file_key, &zero);

	if (!walk || !found)
		return 1;
	walk->address = ctx->args[0];
	if (find_vma(VMA_FOR_AGENT, true) != VMA_FILE)
		return 1;
	*found = walk->key;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How bytes are chosen by points on a line of them: shared/growth.h. */
#ifndef BPF_DISTANCE_BPF_H
#define BPF_DISTANCE_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/maps.bpf.h"

static __always_inline __u64 draw_distance(__u64 mean)
{
	return mean / 2 + (mean * bpf_get_prandom_u32() >> 32);
}

/* Moves on along a line. Returns the distances that end in these bytes; 0: they are not chosen. */
static __always_inline __u64 count_bytes(struct byte_line *line, __u64 bytes, __u64 mean)
{
	__u64 chosen;

	if (line->distance == 0) {
		line->distance = draw_distance(mean);
		line->left = (line->distance * bpf_get_prandom_u32() >> 32) + 1;
	}
	if (bytes < line->left) {
		line->left -= bytes;
		return 0;
	}
	chosen = line->distance;
	bytes -= line->left;
	line->distance = draw_distance(mean);
	if (bytes >= line->distance) { /* all of them belong to the same stack */
		chosen += bytes / line->distance * line->distance;
		bytes %= line->distance;
	}
	line->left = line->distance - bytes;
	return chosen;
}

#endif

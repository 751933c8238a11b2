/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the unwinder must know of a HotSpot JVM. */
#ifndef BPF_SHARED_RUNTIME_HOTSPOT_H
#define BPF_SHARED_RUNTIME_HOTSPOT_H

#include <linux/types.h>

struct hotspot_layout {
	__u8 kind; /* RUNTIME_HOTSPOT */
	__u8 pad[63];
};

_Static_assert(sizeof(struct hotspot_layout) == 64, "no hidden padding");

#endif

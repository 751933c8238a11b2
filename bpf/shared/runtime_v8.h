/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the unwinder must know of a V8. */
#ifndef BPF_SHARED_RUNTIME_V8_H
#define BPF_SHARED_RUNTIME_V8_H

#include <linux/types.h>

struct v8_layout {
	__u8 kind; /* RUNTIME_V8 */
	__u8 pad[63];
};

_Static_assert(sizeof(struct v8_layout) == 64, "no hidden padding");

#endif

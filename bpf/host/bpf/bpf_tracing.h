/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Nothing of this header is needed on the host: only programs that read the kernel's memory use
 * it. */
#ifndef BPF_HOST_TRACING_H
#define BPF_HOST_TRACING_H

#endif

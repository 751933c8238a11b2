/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing of this header is needed on the host: only programs that read the kernel's memory use it. */
#ifndef TESTS_BPF_HOST_BPF_TRACING_H
#define TESTS_BPF_HOST_BPF_TRACING_H

#endif

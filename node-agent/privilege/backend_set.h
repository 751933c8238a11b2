/* SPDX-License-Identifier: Apache-2.0 */
/* The capture backends by their names in --capture: `bpf`, which unwinds stacks in the kernel,
 * and `perf`, which copies them and unwinds them afterwards. What a host lacks rules out one of
 * them or both. */
#ifndef PRIVILEGE_BACKEND_SET_H
#define PRIVILEGE_BACKEND_SET_H

#include "config/options.h"

enum backend_set { /* a set */
		   BACKENDS_NONE = 0,
		   BACKEND_BPF = 1,
		   BACKEND_PERF = 2,
		   BACKENDS_ALL = BACKEND_BPF | BACKEND_PERF,
};

/* Returns the backends that the options allow; one of them is enough. */
enum backend_set backend_set_wanted(const struct options *options);

/* Returns words such as "the capture backend bpf" for a set that is not empty. */
const char *backend_set_words(enum backend_set backends);

#endif

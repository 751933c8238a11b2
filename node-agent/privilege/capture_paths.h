/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways of sampling, by their names in --capture: `bpf`, which unwinds stacks in the kernel, and `perf`, which copies them
 * and unwinds them afterwards. What a host lacks rules out one of them or both. */
#ifndef PRIVILEGE_CAPTURE_PATHS_H
#define PRIVILEGE_CAPTURE_PATHS_H

#include "config/options.h"

enum capture_paths { /* a set */
		     PATHS_NONE = 0,
		     PATH_BPF = 1,
		     PATH_PERF = 2,
		     PATHS_ALL = PATH_BPF | PATH_PERF,
};

/* Those that the options allow: one of them is enough. */
enum capture_paths capture_paths_wanted(const struct options *options);

/* "the capture path bpf", of a set that is not empty. */
const char *capture_paths_words(enum capture_paths paths);

#endif

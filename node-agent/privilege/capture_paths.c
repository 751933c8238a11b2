/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/capture_paths.h"

enum capture_paths capture_paths_wanted(const struct options *options)
{
	static const enum capture_paths wanted[] = {
		[OPTION_CAPTURE_AUTO] = PATHS_ALL,
		[OPTION_CAPTURE_BPF] = PATH_BPF,
		[OPTION_CAPTURE_PERF] = PATH_PERF,
	};

	return wanted[options->capture];
}

const char *capture_paths_words(enum capture_paths paths)
{
	static const char *const words[] = {
		[PATH_BPF] = "the capture path bpf",
		[PATH_PERF] = "the capture path perf",
		[PATHS_ALL] = "both capture paths",
	};

	return words[paths];
}

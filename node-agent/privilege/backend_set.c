/* SPDX-License-Identifier: Apache-2.0 */
#include "privilege/backend_set.h"

enum backend_set backend_set_wanted(const struct options *options)
{
	static const enum backend_set wanted[] = {
		[OPTION_CAPTURE_AUTO] = BACKENDS_ALL,
		[OPTION_CAPTURE_BPF] = BACKEND_BPF,
		[OPTION_CAPTURE_PERF] = BACKEND_PERF,
	};

	return wanted[options->capture];
}

const char *backend_set_words(enum backend_set backends)
{
	static const char *const words[] = {
		[BACKEND_BPF] = "the capture backend bpf",
		[BACKEND_PERF] = "the capture backend perf",
		[BACKENDS_ALL] = "both capture backends",
	};

	return words[backends];
}

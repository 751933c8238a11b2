/* SPDX-License-Identifier: Apache-2.0 */
/* The two backends that take samples (sample_source.h), as statistics and metrics name them. */
#ifndef CAPTURE_CAPTURE_BACKEND_H
#define CAPTURE_CAPTURE_BACKEND_H

enum capture_backend {
	CAPTURE_BPF,
	CAPTURE_PERF,
};

/* "bpf", "perf". */
static inline const char *capture_backend_name(enum capture_backend backend)
{
	return backend == CAPTURE_PERF ? "perf" : "bpf";
}

#endif

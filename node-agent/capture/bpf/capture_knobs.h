/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the constants of the BPF programs (bpf/opts.bpf.h), and chooses which of them are loaded and
 * how large their maps are. */
#ifndef CAPTURE_BPF_CAPTURE_KNOBS_H
#define CAPTURE_BPF_CAPTURE_KNOBS_H

#include "base/err.h"
#include "capture/capture_opts.h"

struct flamelet_bpf;

/* Sets the knobs, and chooses the programs. */
void capture_knobs_set(struct flamelet_bpf *skel, const struct capture_opts *opts);

/* Sizes the ring buffer and the maps. Those that are not used take no memory; that of pids may grow
 * while a command forks. Errors: those of libbpf. */
int capture_knobs_size_maps(struct flamelet_bpf *skel, const struct capture_opts *opts) must_check;

#endif

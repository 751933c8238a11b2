/* SPDX-License-Identifier: Apache-2.0 */
/* The maps of BPF programs that say which processes, threads and names are wanted. */
#ifndef CAPTURE_BPF_TARGET_MAPS_H
#define CAPTURE_BPF_TARGET_MAPS_H

#include "base/err.h"
#include "capture/capture_opts.h"

#include <stdint.h>

struct flamelet_bpf;

/* Adds the targets of the options. Errors: -ENOSPC there are more than a map has room for; what
 * bpf(2) says. */
int target_maps_fill(const struct flamelet_bpf *skel, const struct capture_opts *opts) must_check;

/* Adds a process. Errors: the same. */
int target_maps_add_pid(const struct flamelet_bpf *skel, uint32_t pid) must_check;

#endif

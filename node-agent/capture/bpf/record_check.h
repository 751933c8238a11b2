/* SPDX-License-Identifier: Apache-2.0 */
/* Checks records of the ring buffer before they are used. */
#ifndef CAPTURE_BPF_RECORD_CHECK_H
#define CAPTURE_BPF_RECORD_CHECK_H

#include "bpf/shared/events.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the record's numbers are within the limits of bpf/shared/events.h and all its
 * frames are there. Its header is. */
bool record_is_whole(const struct sample_event *event, size_t frames_bytes);

/* Returns whether the record is a copy of a code object (bpf/shared/code_copy.h). */
bool record_is_copy(const void *record, size_t len);

#endif

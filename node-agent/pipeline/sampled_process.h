/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the process of a sample to its window: its program, and when it started. */
#ifndef PIPELINE_SAMPLED_PROCESS_H
#define PIPELINE_SAMPLED_PROCESS_H

#include "base/err.h"
#include "pipeline/locate.h"

/* Adds the process of a sample whose stack was located to the window, without a program where that
 * is not known, and the names of process and thread, and sets them in `sample`. Threads of the
 * kernel are one process for each of their names up to the "/" ("kworker"), without a pid: they
 * come and go by the hundred. Errors: those of the builder. */
int sampled_process_add(const struct locator *locator, const struct sample_event *event,
			struct profile_sample *sample) must_check;

#endif

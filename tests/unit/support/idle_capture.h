/* SPDX-License-Identifier: Apache-2.0 */
/* What a pipeline borrows from the agent, without a kernel: a source that has no
 * samples, an unwinder over the source's memory, and a selection that selects everything. The
 * unwinder has workers, which are the test program again: see rows_worker_main.h. */
#ifndef TESTS_UNIT_IDLE_CAPTURE_H
#define TESTS_UNIT_IDLE_CAPTURE_H

#include "capture/sample_source.h"
#include "k8s/selection.h"
#include "unwind/unwind_tables.h"

struct idle_capture {
	struct sample_source *source;
	struct unwind_tables *tables;
	struct selection *selection;
};

/* Every failure is an assertion's. */
void idle_capture_start(struct idle_capture *capture);

/* After the pipeline's end; also one that was not started, and is zero. */
void idle_capture_stop(struct idle_capture *capture);

#endif

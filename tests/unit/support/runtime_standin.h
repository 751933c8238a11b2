/* SPDX-License-Identifier: Apache-2.0 */
/* A language runtime for tests, which poses as CPython: the C library is the file that it knows,
 * the process is the test program, and names are texts in its memory. The worker is the test
 * program again, so main() begins with
 *
 *	if (is_runtime_worker(argc, argv))
 *		return runtime_standin_main(); */
#ifndef TESTS_RUNTIME_STANDIN_H
#define TESTS_RUNTIME_STANDIN_H

#include "runtime/worker/runtime_worker.h"

#include <stdbool.h>
#include <string.h>

#define RUNTIME_STANDIN_VERSION 0x030f0000
#define RUNTIME_STANDIN_FILE "standin.py"

/* A process maps the runtime at the address of this struct. */
struct runtime_standin {
	uint64_t state; /* enum runtime_state */
	uint64_t is_shared;
	uint64_t is_likely;
	uint64_t has_process;
	uint64_t is_marked;
	uint64_t place; /* goes into the layout */
};

/* Names that make the worker misbehave. */
#define RUNTIME_STANDIN_DEADLY "Dead"
#define RUNTIME_STANDIN_HANGING "Hang"
#define RUNTIME_STANDIN_GREEDY "greedy" /* reads most of what a request may read */

extern const struct runtime_ops *runtime_standins[RUNTIME_NR_KINDS];

static inline bool is_runtime_worker(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], RUNTIME_WORKER_COMMAND) == 0;
}

int runtime_standin_main(void);

/* Opens the C library of this process. */
int runtime_standin_open_file(void);

/* Makes the words of a frame with that name; the text must stay where it is. */
void runtime_standin_frame(const char *name, uint32_t line, uint64_t words[static 2]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* For tests with a JIT worker. The worker is the test program again, so main() begins with
 *
 *	if (is_jit_worker(argc, argv))
 *		return jit_worker_main(); */
#ifndef TESTS_JIT_WORKER_MAIN_H
#define TESTS_JIT_WORKER_MAIN_H

#include "symbol/jit/jit_worker.h"

#include <stdbool.h>
#include <string.h>

static inline bool is_jit_worker(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], JIT_WORKER_COMMAND) == 0;
}

#endif

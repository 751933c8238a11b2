/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what has a symbol worker: it is the test program again, so main() begins with
 *
 *	if (is_symbol_worker(argc, argv))
 *		return symbol_worker_main(); */
#ifndef TESTS_SYMBOL_WORKER_MAIN_H
#define TESTS_SYMBOL_WORKER_MAIN_H

#include "symbol/worker/symbol_worker.h"

#include <stdbool.h>
#include <string.h>

static inline bool is_symbol_worker(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], SYMBOL_WORKER_COMMAND) == 0;
}

#endif

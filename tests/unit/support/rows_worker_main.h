/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of what has workers for unwind tables: such a worker is the test program
 * again, so main() begins with
 *
 *	if (is_rows_worker(argc, argv))
 *		return rows_worker_main(); */
#ifndef TESTS_ROWS_WORKER_MAIN_H
#define TESTS_ROWS_WORKER_MAIN_H

#include "unwind/worker/rows_worker.h"

#include <stdbool.h>
#include <string.h>

static inline bool is_rows_worker(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], ROWS_WORKER_COMMAND) == 0;
}

#endif

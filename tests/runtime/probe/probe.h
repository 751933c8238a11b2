/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the values of each runtime. */
#ifndef TESTS_RUNTIME_PROBE_H
#define TESTS_RUNTIME_PROBE_H

#include "runtime/runtime.h"

struct probe_runtime {
	const struct runtime_ops *ops;
	/* Prints the values of a file. NULL: by number. */
	void (*print_file)(const struct runtime_file *file);
	/* Prints what is known of a process that is ready. NULL: what names need, by number. */
	void (*print_found)(const struct runtime_found *found);
};

void probe_cpython_print_file(const struct runtime_file *file);
void probe_cpython_print_found(const struct runtime_found *found);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUNTIME_HOTSPOT_HOTSPOT_INSPECT_H
#define RUNTIME_HOTSPOT_HOTSPOT_INSPECT_H

#include "runtime/runtime.h"

/* runtime_ops.inspect. A JVM is pending until its code caches and its call stub are there, about
 * 100 ms after its start. Its version is UNSUPPORTED if its tables lack what is needed; the reason
 * names it. */
int hotspot_inspect(struct process_memory *memory, const struct runtime_file *file, uint64_t bias,
		    struct runtime_found *ret_found) must_check;

#endif

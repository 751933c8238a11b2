/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "probe.h"
#include "runtime/cpython/cpython_values.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const fields[] = {
#define X(NAME, field) field,
	CPYTHON_OFFSETS(X)
#undef X
};

static const struct {
	uint8_t value; /* enum cpython_value */
	const char *label;
} kinds[] = {
	{ CPYTHON_RUNTIME, "_PyRuntime" },
	{ CPYTHON_CHAIN, "chain (enum cpython_chain)" },
	{ CPYTHON_INSTR, "instruction (enum cpython_instr)" },
	{ CPYTHON_LINES, "line table (enum cpython_lines)" },
	{ CPYTHON_SHIM_OWNER, "owner of shims" },
	{ CPYTHON_FREE_THREADED, "free-threaded" },
	{ CPYTHON_TAIL_CALLS, "tail calls" },
	{ CPYTHON_IS_GUESS, "unknown version, read like the newest one" },
	{ CPYTHON_IS_PROGRAM, "a program, no library" },
	{ CPYTHON_TLS_BYTES, "bytes of thread-local storage" },
	{ CPYTHON_GILSTATE_PLACE, "thread-local variable of PyGILState" },
	{ CPYTHON_EVAL_START, "eval loop, start in the file" },
	{ CPYTHON_EVAL_END, "eval loop, end in the file" },
	{ CPYTHON_EVAL_COLD_START, "cold part, start in the file" },
	{ CPYTHON_EVAL_COLD_END, "cold part, end in the file" },
};

void probe_cpython_print_file(const struct runtime_file *file)
{
	for (size_t i = 0; i < array_len(kinds); i++)
		printf("  %-44s %#" PRIx64 "\n", kinds[i].label, file->values[kinds[i].value]);
	if (!file->values[CPYTHON_HAS_OFFSETS]) {
		printf("  offsets unknown\n");
		return;
	}
	for (size_t i = 0; i < array_len(fields); i++) {
		uint64_t offset = file->values[CPYTHON_FIRST_OFFSET + i];

		if (offset == CPYTHON_NONE)
			printf("  %-44s none\n", fields[i]);
		else
			printf("  %-44s %" PRIu64 "\n", fields[i], offset);
	}
}

void probe_cpython_print_found(const struct runtime_found *found)
{
	const struct cpython_layout *layout = &found->layout.cpython;

	printf("  thread state: thread pointer");
	for (uint8_t i = 0; i < layout->nr_place; i++)
		printf(" %+d, load", layout->place[i]);
	printf("\n");
}

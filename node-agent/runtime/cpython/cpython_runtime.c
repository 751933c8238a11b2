/* SPDX-License-Identifier: Apache-2.0 */
/* The layout and the naming of a CPython are constants of its file (cpython_file.h), but for the
 * place of the thread state, which is learned from the threads of a process. */
#include "bpf/shared/code_copy.h"
#include "bpf/shared/runtime_cpython.h"

#include "runtime/cpython/cpython_file.h"
#include "runtime/cpython/cpython_name.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_place.h"
#include "runtime/cpython/cpython_threads.h"
#include "runtime/cpython/cpython_values.h"
#include "runtime/runtime.h"

#include <stdio.h>

#define MAX_FRAME_BYTES 120 /* as cpython_layout.frame_bytes */

_Static_assert(CPYTHON_NAMING_NR <= RUNTIME_NAMING_VALUES, "naming fits into struct runtime_found");

/* The values of the naming that are values of the file. */
static const struct {
	uint8_t naming; /* enum cpython_naming */
	uint8_t value; /* enum cpython_value */
} naming_values[] = {
	{ CPYTHON_NAMING_LINES, CPYTHON_LINES },
	{ CPYTHON_NAMING_CHECK, CPYTHON_OFFSET_CODE_FIRSTLINENO },
	{ CPYTHON_NAMING_FILENAME, CPYTHON_OFFSET_CODE_FILENAME },
	{ CPYTHON_NAMING_NAME, CPYTHON_OFFSET_CODE_NAME },
	{ CPYTHON_NAMING_FIRSTLINENO, CPYTHON_OFFSET_CODE_FIRSTLINENO },
	{ CPYTHON_NAMING_LINETABLE, CPYTHON_OFFSET_CODE_LINETABLE },
	{ CPYTHON_NAMING_UNICODE_LENGTH, CPYTHON_OFFSET_UNICODE_LENGTH },
	{ CPYTHON_NAMING_UNICODE_STATE, CPYTHON_OFFSET_UNICODE_STATE },
	{ CPYTHON_NAMING_ASCII_DATA, CPYTHON_OFFSET_ASCII_DATA },
	{ CPYTHON_NAMING_COMPACT_DATA, CPYTHON_OFFSET_COMPACT_DATA },
	{ CPYTHON_NAMING_BYTES_SIZE, CPYTHON_OFFSET_BYTES_SIZE },
	{ CPYTHON_NAMING_BYTES_DATA, CPYTHON_OFFSET_BYTES_DATA },
};

/* The fields of a code object that are read at once. */
static const uint8_t code_fields[] = {
	CPYTHON_OFFSET_CODE_FILENAME,  CPYTHON_OFFSET_CODE_NAME,
	CPYTHON_OFFSET_CODE_QUALNAME,  CPYTHON_OFFSET_CODE_FIRSTLINENO,
	CPYTHON_OFFSET_CODE_LINETABLE, CPYTHON_OFFSET_CODE_TLBC,
};

/* The fields of a frame that the unwinder needs. */
static const uint8_t frame_fields[] = {
	CPYTHON_OFFSET_FRAME_CODE,
	CPYTHON_OFFSET_FRAME_PREVIOUS,
	CPYTHON_OFFSET_FRAME_INSTR,
	CPYTHON_OFFSET_FRAME_OWNER,
};

static uint64_t count_code_bytes(const uint64_t *values)
{
	uint64_t len = 0;

	for (size_t i = 0; i < array_len(code_fields); i++) {
		uint64_t offset = values[code_fields[i]];

		if (offset != CPYTHON_NONE && offset + sizeof(uint64_t) > len)
			len = offset + sizeof(uint64_t);
	}
	uint64_t check_end = values[CPYTHON_OFFSET_CODE_FIRSTLINENO] +
			     RUNTIME_CHECK_WORDS * sizeof(uint64_t);
	return len > check_end ? len : check_end;
}

static uint64_t or_zero(uint64_t offset)
{
	return offset == CPYTHON_NONE ? 0 : offset;
}

static void fill_naming(const uint64_t *values, uint64_t *naming)
{
	for (size_t i = 0; i < array_len(naming_values); i++)
		naming[naming_values[i].naming] = values[naming_values[i].value];
	naming[CPYTHON_NAMING_QUALNAME] = or_zero(values[CPYTHON_OFFSET_CODE_QUALNAME]);
	naming[CPYTHON_NAMING_TLBC] = or_zero(values[CPYTHON_OFFSET_CODE_TLBC]);
	if (naming[CPYTHON_NAMING_TLBC] != 0)
		naming[CPYTHON_NAMING_BYTECODE] = values[CPYTHON_OFFSET_CODE_BYTECODE];
	naming[CPYTHON_NAMING_CODE_BYTES] = count_code_bytes(values);
}

/* Returns how much of a frame the unwinder reads: whole words, up to the last one that it needs. */
static uint64_t count_frame_bytes(const uint64_t *values)
{
	uint64_t len = 0;

	for (size_t i = 0; i < array_len(frame_fields); i++) {
		uint64_t offset = values[frame_fields[i]];
		uint64_t end = offset / sizeof(uint64_t) * sizeof(uint64_t) + sizeof(uint64_t);

		if (offset != CPYTHON_NONE && end > len)
			len = end;
	}
	return len;
}

/* Sets what leads from the thread's own state to that in which it runs. */
static void fill_current(const uint64_t *values, struct cpython_layout *layout)
{
	layout->interpreter = (uint8_t)or_zero(values[CPYTHON_OFFSET_THREAD_INTERPRETER]);
	layout->runtime = (uint16_t)or_zero(values[CPYTHON_OFFSET_INTERPRETER_RUNTIME]);
	layout->current = (uint16_t)or_zero(values[CPYTHON_OFFSET_CURRENT_THREAD]);
	if (layout->chain == CPYTHON_CHAIN_BY_CODE)
		layout->interpreters = (uint16_t)values[CPYTHON_OFFSET_INTERPRETERS];
}

/* Sets what is copied of code objects, unless it is too far from their starts. */
static void fill_copied(const uint64_t *values, struct cpython_layout *layout)
{
	uint64_t name = values[CPYTHON_OFFSET_CODE_QUALNAME] != CPYTHON_NONE
				? values[CPYTHON_OFFSET_CODE_QUALNAME]
				: values[CPYTHON_OFFSET_CODE_NAME];

	if (count_code_bytes(values) > CODE_COPY_OBJECT_BYTES ||
	    values[CPYTHON_OFFSET_BYTES_SIZE] >= CODE_COPY_BYTES_HEADER)
		return;
	layout->filename = (uint8_t)values[CPYTHON_OFFSET_CODE_FILENAME];
	layout->name = (uint8_t)name;
	layout->lines = (uint8_t)values[CPYTHON_OFFSET_CODE_LINETABLE];
	layout->bytes_size = (uint8_t)values[CPYTHON_OFFSET_BYTES_SIZE];
}

static void fill_layout(const uint64_t *values, const struct cpython_place *place,
			struct cpython_layout *ret_layout)
{
	*ret_layout = (struct cpython_layout){
		.kind = RUNTIME_CPYTHON,
		.chain = (uint8_t)values[CPYTHON_CHAIN],
		.instr_kind = (uint8_t)values[CPYTHON_INSTR],
		.shim_owner = (uint8_t)values[CPYTHON_SHIM_OWNER],
		.drops_handler = (uint8_t)values[CPYTHON_TAIL_CALLS],
		.nr_place = place->nr,
		.cframe = (uint16_t)values[CPYTHON_OFFSET_THREAD_CFRAME],
		.place = { place->offsets[0], place->offsets[1], place->offsets[2] },
		.block_bytes = place->block_bytes,
		.frame = (uint16_t)values[CPYTHON_OFFSET_CURRENT_FRAME],
		.cframe_previous = (uint16_t)values[CPYTHON_OFFSET_CFRAME_PREVIOUS],
		.thread_id = (uint16_t)values[CPYTHON_OFFSET_THREAD_ID],
		.code = (uint8_t)values[CPYTHON_OFFSET_FRAME_CODE],
		.previous = (uint8_t)values[CPYTHON_OFFSET_FRAME_PREVIOUS],
		.instr = (uint8_t)values[CPYTHON_OFFSET_FRAME_INSTR],
		.owner = (uint8_t)values[CPYTHON_OFFSET_FRAME_OWNER],
		.check = (uint16_t)values[CPYTHON_OFFSET_CODE_FIRSTLINENO],
		.bytecode = (uint16_t)values[CPYTHON_OFFSET_CODE_BYTECODE],
		.frame_bytes = (uint8_t)count_frame_bytes(values),
		.eval = { (uint32_t)values[CPYTHON_EVAL_START], (uint32_t)values[CPYTHON_EVAL_END],
			  (uint32_t)values[CPYTHON_EVAL_COLD_START],
			  (uint32_t)values[CPYTHON_EVAL_COLD_END] },
	};
	fill_current(values, ret_layout);
	fill_copied(values, ret_layout);
}

static void set_state(struct runtime_found *found, uint32_t state, const char *reason)
{
	found->state = state;
	snprintf(found->reason, sizeof(found->reason), "%s", reason);
}

static void say_unsupported(struct runtime_found *found)
{
	found->state = RUNTIME_UNSUPPORTED;
	if (found->version == 0)
		snprintf(found->reason, sizeof(found->reason), "a CPython before 3.8");
	else
		snprintf(found->reason, sizeof(found->reason),
			 "CPython %u.%u has unknown structures", CPYTHON_MAJOR(found->version),
			 CPYTHON_MINOR(found->version));
}

static void say_ready(struct runtime_found *found, const uint64_t *values)
{
	found->state = RUNTIME_READY;
	if (values[CPYTHON_IS_GUESS])
		snprintf(found->reason, sizeof(found->reason),
			 "CPython %u.%u is unknown, and read like the newest known one",
			 CPYTHON_MAJOR(found->version), CPYTHON_MINOR(found->version));
}

/* Other processes have the place as well, unless it is in a block whose number depends on what was
 * loaded before. If several places have the state, then another process may have it in another one
 * of them. A forked child makes the key anew: glibc gives it the lowest one that is free, which is
 * the same again, but musl, whose keys are all in a table, the next one. */
static bool is_of_file(const struct cpython_place *place)
{
	return place->is_only && place->kind != CPYTHON_PLACE_DYNAMIC_TLS &&
	       place->kind != CPYTHON_PLACE_FAR_KEY;
}

/* Without a way from a thread's state to _PyRuntime, the unwinder needs its address. */
static bool needs_runtime(const struct cpython_layout *layout)
{
	return layout->current != 0 && layout->interpreter == 0;
}

static int inspect(struct process_memory *memory, const struct runtime_file *file, uint64_t bias,
		   struct runtime_found *ret_found)
{
	struct runtime_found found = {
		.version = file->version,
		.process.kind = RUNTIME_CPYTHON,
	};
	const uint64_t *values = file->values;
	struct cpython_threads threads;
	struct cpython_place place;

	if (!values[CPYTHON_HAS_OFFSETS] || count_frame_bytes(values) > MAX_FRAME_BYTES) {
		say_unsupported(&found);
		*ret_found = found;
		return 0;
	}

	int r = cpython_threads_read(memory, values, bias + values[CPYTHON_RUNTIME], &threads);
	if (r < 0)
		return r;
	if (!threads.has_interpreter) {
		set_state(&found, RUNTIME_PENDING, "Python has not started yet");
	} else if (threads.nr == 0) {
		set_state(&found, RUNTIME_PENDING, "Python has no thread yet");
	} else if (cpython_place_learn(memory, file, &threads, &place) < 0) {
		set_state(&found, RUNTIME_PENDING, "the state of Python's threads was not found");
	} else {
		fill_layout(values, &place, &found.layout.cpython);
		fill_naming(values, found.naming);
		found.is_shared = is_of_file(&place) && !needs_runtime(&found.layout.cpython);
		/* A library's place depends on its program: on the keys that it made before,
		 * and on thread-local variables of other libraries. */
		found.is_likely = found.is_shared && !values[CPYTHON_IS_PROGRAM];
		found.has_process = !found.is_shared;
		found.process.words[CPYTHON_WORD_RUNTIME] = bias + values[CPYTHON_RUNTIME];
		say_ready(&found, values);
	}
	*ret_found = found;
	return 0;
}

const struct runtime_ops cpython_runtime = {
	.kind = RUNTIME_CPYTHON,
	.label = "cpython",
	.read_file = cpython_file_read,
	.inspect = inspect,
	.name = cpython_name,
};

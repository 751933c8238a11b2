/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "runtime/runtime.h"
#include "runtime/v8/v8_file.h"
#include "runtime/v8/v8_heap.h"
#include "runtime/v8/v8_name.h"
#include "runtime/v8/v8_values.h"

#include <stdio.h>
#include <string.h>

/* Without one of these values, no frame of V8 can be recognized or named. */
static const enum v8_value needed[] = {
	V8_TYPE_SHARED,	  V8_TYPE_SCOPE,      V8_TYPE_SCRIPT,	V8_TYPE_CODE,
	V8_TYPE_BYTECODE, V8_FUNCTION_SHARED, V8_SHARED_LENGTH,
};

static bool has_needed(const struct runtime_file *file)
{
	for (size_t i = 0; i < array_len(needed); i++)
		if (file->values[needed[i]] == 0)
			return false;
	return true;
}

static void set_reason(struct runtime_found *found, const char *reason)
{
	(void)snprintf(found->reason, sizeof(found->reason), "%s", reason);
}

/* Sets whether the frames of a V8 can be named, and why not, or what is not as usual. */
static void judge(const struct runtime_file *file, struct runtime_found *found)
{
	bool is_exported = file->values[V8_TYPE_SHARED] != V8_UNKNOWN_TYPE;
	bool is_marked = file->values[V8_TAGGED_BYTES] != V8_WORD_BYTES && is_exported;
	bool is_usable = !is_marked && has_needed(file);

	found->state = is_usable ? RUNTIME_READY : RUNTIME_UNSUPPORTED;
	found->is_marked = is_marked;
	if (is_marked)
		set_reason(found, "V8 with compressed pointers and constants for debuggers");
	else if (!is_usable)
		set_reason(found, "V8 without the constants for debuggers");
	else if (!is_exported)
		set_reason(found, "no constants for debuggers: read like V8 14.6");
	else if (file->values[V8_NR_BYTECODES] == 0)
		set_reason(found, "lines of baseline code are those of its functions");
}

/* Reads nothing of the process, because all of its V8 is found through its frames. */
static int inspect(struct process_memory *memory, const struct runtime_file *file, uint64_t bias,
		   struct runtime_found *ret_found)
{
	struct runtime_found found = { .version = file->version, .has_process = 1 };

	(void)memory;
	(void)bias;
	judge(file, &found);
	found.process.kind = RUNTIME_V8;
	found.layout.v8 = (struct v8_layout){
		.kind = RUNTIME_V8,
		.is_compressed = file->values[V8_TAGGED_BYTES] != V8_WORD_BYTES,
		.is_marked = found.is_marked,
		.map_type = (uint16_t)(file->values[V8_TAGGED_BYTES] + V8_MAP_INSTANCE_TYPE),
		.function_shared = (uint16_t)file->values[V8_FUNCTION_SHARED],
		.shared_type = (uint16_t)file->values[V8_TYPE_SHARED],
		.bytecode_type = (uint16_t)file->values[V8_TYPE_BYTECODE],
		.shared_check = (uint16_t)file->values[V8_SHARED_LENGTH],
		.bytecode_length = (uint16_t)file->values[V8_EXPOSED_HEAD],
		.trusted_cage = (uint16_t)file->values[V8_TRUSTED_CAGE],
		.builtins_start = (uint32_t)file->values[V8_BUILTINS_START],
		.builtins_end = (uint32_t)file->values[V8_BUILTINS_END],
	};
	memcpy(found.naming, file->values, V8_NR_VALUES * sizeof(*found.naming));
	*ret_found = found;
	return 0;
}

const struct runtime_ops v8_runtime = {
	.kind = RUNTIME_V8,
	.label = "v8",
	.read_file = v8_file_read,
	.inspect = inspect,
	.name = v8_name,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/hotspot_inspect.h"

#include "bpf/shared/cfi.h"
#include "runtime/hotspot/hotspot_naming.h"
#include "runtime/hotspot/vm_structs.h"

#include <stdbool.h>
#include <stdio.h>

#define MAX_OFFSET 4095 /* of a field, and of a type's size */
#define MAX_CODE_BYTES (1ULL << 36)
#define MAX_LOG2_SEGMENT 20

/* The value that reads as follows without a table: */
#define BCP_WORDS_8 7 /* frame_x86.hpp, frame_aarch64.hpp: interpreter_frame_bcp_offset */
#define BCP_WORDS_9 (CFI_IS_ARM64 ? 9 : 8)

struct jvm {
	struct process_memory *memory; /* borrowed */
	struct vm_structs structs;
	uint64_t log2_segment;
	struct runtime_found *found; /* borrowed */
};

/* Values without which neither frames can be found nor names read. */
static const struct {
	enum vm_value value;
	const char *name;
} needed_values[] = {
	{ VM_MAJOR_VERSION, "Abstract_VM_Version._vm_major_version" },
	{ VM_HEAP_MEMORY, "CodeHeap._memory" },
	{ VM_HEAP_SEGMENT_MAP, "CodeHeap._segmap" },
	{ VM_HEAP_LOG2_SEGMENT, "CodeHeap._log2_segment_size" },
	{ VM_SPACE_LOW_BOUNDARY, "VirtualSpace._low_boundary" },
	{ VM_SPACE_HIGH_BOUNDARY, "VirtualSpace._high_boundary" },
	{ VM_SPACE_LOW, "VirtualSpace._low" },
	{ VM_CALL_STUB_RETURN, "StubRoutines._call_stub_return_address" },
	{ VM_BLOB_NAME, "CodeBlob._name" },
	{ VM_BLOB_FRAME_SIZE, "CodeBlob._frame_size" },
	{ VM_BLOB_FRAME_COMPLETE, "CodeBlob._frame_complete_offset" },
	{ VM_NMETHOD_COMPILE_ID, "nmethod._compile_id" },
	{ VM_NMETHOD_ORIG_PC, "nmethod._orig_pc_offset" },
	{ VM_METHOD_CONST, "Method._constMethod" },
	{ VM_CONST_CONSTANTS, "ConstMethod._constants" },
	{ VM_CONST_SIZE, "ConstMethod._constMethod_size" },
	{ VM_CONST_CODE_SIZE, "ConstMethod._code_size" },
	{ VM_CONST_NAME_INDEX, "ConstMethod._name_index" },
	{ VM_POOL_HOLDER, "ConstantPool._pool_holder" },
	{ VM_POOL_LENGTH, "ConstantPool._length" },
	{ VM_KLASS_NAME, "Klass._name" },
	{ VM_SYMBOL_LENGTH, "Symbol._length" },
	{ VM_SYMBOL_BODY, "Symbol._body" },
	{ VM_SIZE_HEAP_BLOCK, "HeapBlock" },
	{ VM_SIZE_CODE_BLOB, "CodeBlob" },
	{ VM_SIZE_NMETHOD, "nmethod" },
	{ VM_SIZE_CONST_METHOD, "ConstMethod" },
	{ VM_SIZE_CONSTANT_POOL, "ConstantPool" },
};

/* Values that are addresses of static fields. */
static bool is_address(enum vm_value value)
{
	return value <= VM_CODE_HEAPS || value == VM_CALL_STUB_RETURN;
}

static bool has(const struct jvm *jvm, enum vm_value value)
{
	return jvm->structs.values[value] != VM_NONE;
}

static uint64_t value_of(const struct jvm *jvm, enum vm_value value)
{
	return jvm->structs.values[value];
}

/* Returns the first one that the JVM has; VM_NR_VALUES if it has neither. */
static enum vm_value either(const struct jvm *jvm, enum vm_value one, enum vm_value other)
{
	if (has(jvm, one))
		return one;
	return has(jvm, other) ? other : VM_NR_VALUES;
}

static bool say(struct jvm *jvm, const char *words, const char *name)
{
	jvm->found->state = RUNTIME_UNSUPPORTED;
	snprintf(jvm->found->reason, sizeof(jvm->found->reason), "%s %s", words, name);
	return false;
}

static bool is_complete(struct jvm *jvm)
{
	for (size_t i = 0; i < array_len(needed_values); i++)
		if (!has(jvm, needed_values[i].value))
			return say(jvm, "the JVM does not describe", needed_values[i].name);
	if (either(jvm, VM_CODE_HEAPS, VM_CODE_HEAP) == VM_NR_VALUES)
		return say(jvm, "the JVM does not describe", "CodeCache._heaps");
	if (either(jvm, VM_BLOB_CODE_BEGIN, VM_BLOB_CODE_OFFSET) == VM_NR_VALUES)
		return say(jvm, "the JVM does not describe", "CodeBlob._code_begin");
	if (either(jvm, VM_NMETHOD_METHOD, VM_COMPILED_METHOD) == VM_NR_VALUES)
		return say(jvm, "the JVM does not describe", "nmethod._method");
	for (unsigned int i = 0; i < VM_NR_VALUES; i++)
		if (!is_address(i) && has(jvm, i) && jvm->structs.values[i] > MAX_OFFSET)
			return say(jvm, "the JVM describes", "impossible offsets");
	return true;
}

/* JDK 8 is version 25 of HotSpot. It is the last one with one code cache. */
static bool is_jdk_8(const struct jvm *jvm)
{
	return !has(jvm, VM_CODE_HEAPS);
}

static int read_version_part(struct jvm *jvm, enum vm_value value, uint32_t *ret_part)
{
	uint32_t part = 0;

	if (has(jvm, value)) {
		int r = process_memory_read_u32(jvm->memory, value_of(jvm, value), &part);

		if (r < 0)
			return r;
	}
	*ret_part = part & 0xff;
	return 0;
}

static int read_version(struct jvm *jvm)
{
	uint32_t major, minor, security;
	int r = read_version_part(jvm, VM_MAJOR_VERSION, &major);

	if (r == 0)
		r = read_version_part(jvm, VM_MINOR_VERSION, &minor);
	if (r == 0)
		r = read_version_part(jvm, VM_SECURITY_VERSION, &security);
	if (r < 0)
		return r;
	jvm->found->version = is_jdk_8(jvm) ? 8U << 24 : major << 24 | minor << 16 | security << 8;
	return 0;
}

static uint16_t offset_of(const struct jvm *jvm, enum vm_value value)
{
	return value < VM_NR_VALUES && has(jvm, value) ? (uint16_t)value_of(jvm, value)
						       : HOTSPOT_NONE;
}

static uint16_t deopt_offset(const struct jvm *jvm)
{
	static const enum vm_value values[] = { VM_DEOPT_HANDLER, VM_DEOPT_ENTRY_OFFSET,
						VM_DEOPT_OFFSET, VM_DEOPTIMIZE_OFFSET };

	for (size_t i = 0; i < array_len(values); i++)
		if (has(jvm, values[i]))
			return offset_of(jvm, values[i]);
	return HOTSPOT_NONE;
}

/* An entry keeps the stack aligned: ContinuationEntry::size() in continuationEntry.hpp. */
static uint16_t continuation_bytes(const struct jvm *jvm)
{
	if (!has(jvm, VM_SIZE_CONTINUATION_ENTRY))
		return HOTSPOT_NONE;
	return (uint16_t)((value_of(jvm, VM_SIZE_CONTINUATION_ENTRY) + 15) & ~15ULL);
}

static void set_layout(struct jvm *jvm)
{
	jvm->found->layout.hotspot = (struct hotspot_layout){
		.kind = RUNTIME_HOTSPOT,
		.log2_segment = (uint8_t)jvm->log2_segment,
		.is_code_pointer = has(jvm, VM_BLOB_CODE_BEGIN),
		.frame_complete_bytes = jvm->structs.bytes[VM_BLOB_FRAME_COMPLETE] == 2 ? 2 : 4,
		.is_deopt_pointer = has(jvm, VM_DEOPT_HANDLER),
		.bcp = is_jdk_8(jvm) ? BCP_WORDS_8 : BCP_WORDS_9,
		.heap_block = offset_of(jvm, VM_SIZE_HEAP_BLOCK),
		.name = offset_of(jvm, VM_BLOB_NAME),
		.code = offset_of(jvm, either(jvm, VM_BLOB_CODE_BEGIN, VM_BLOB_CODE_OFFSET)),
		.frame_size = offset_of(jvm, VM_BLOB_FRAME_SIZE),
		.frame_complete = offset_of(jvm, VM_BLOB_FRAME_COMPLETE),
		.compile_id = offset_of(jvm, VM_NMETHOD_COMPILE_ID),
		.deopt = deopt_offset(jvm),
		.orig_pc = offset_of(jvm, VM_NMETHOD_ORIG_PC),
		.const_method = offset_of(jvm, VM_METHOD_CONST),
		.const_method_bytes = offset_of(jvm, VM_SIZE_CONST_METHOD),
		.code_size = offset_of(jvm, VM_CONST_CODE_SIZE),
		.continuation = offset_of(jvm, VM_CONTINUATION_ENTRY),
		.continuation_bytes = continuation_bytes(jvm),
	};
}

static uint64_t place(const struct jvm *jvm, enum vm_value pointer, enum vm_value number)
{
	return hotspot_place(offset_of(jvm, pointer), offset_of(jvm, number), HOTSPOT_PLACE_NONE);
}

/* Up to 22, the tables follow the code, and the nmethod has their offsets from its own address.
 * Since 23, they are in the immutable data, to which the nmethod has a pointer. */
static void set_places(struct jvm *jvm)
{
	uint64_t *naming = jvm->found->naming;
	enum vm_value base = either(jvm, VM_IMMUTABLE_DATA, VM_NR_VALUES);

	naming[HOTSPOT_NAMING_CODE] = has(jvm, VM_BLOB_CODE_BEGIN)
					      ? place(jvm, VM_BLOB_CODE_BEGIN, VM_NR_VALUES)
					      : place(jvm, VM_NR_VALUES, VM_BLOB_CODE_OFFSET);
	naming[HOTSPOT_NAMING_PCS] = place(jvm, base, VM_SCOPES_PCS_OFFSET);
	if (base != VM_NR_VALUES) {
		naming[HOTSPOT_NAMING_SCOPES] = place(jvm, base, VM_SCOPES_DATA_OFFSET);
		naming[HOTSPOT_NAMING_SCOPES_END] = place(jvm, base, VM_IMMUTABLE_DATA_SIZE);
		naming[HOTSPOT_NAMING_PCS_END] = naming[HOTSPOT_NAMING_SCOPES];
	} else {
		naming[HOTSPOT_NAMING_SCOPES] =
			has(jvm, VM_SCOPES_DATA_BEGIN)
				? place(jvm, VM_SCOPES_DATA_BEGIN, VM_NR_VALUES)
				: place(jvm, VM_NR_VALUES, VM_SCOPES_DATA_OFFSET);
		naming[HOTSPOT_NAMING_SCOPES_END] = naming[HOTSPOT_NAMING_PCS];
		naming[HOTSPOT_NAMING_PCS_END] = place(jvm, VM_NR_VALUES, VM_DEPENDENCIES_OFFSET);
	}
	if (has(jvm, VM_BLOB_MUTABLE_DATA))
		naming[HOTSPOT_NAMING_METADATA] = place(jvm, VM_BLOB_MUTABLE_DATA,
							VM_BLOB_RELOCATION_SIZE);
	else if (jvm->structs.bytes[VM_METADATA_OFFSET] == 2)
		naming[HOTSPOT_NAMING_METADATA] = hotspot_place(HOTSPOT_PLACE_NONE,
								offset_of(jvm, VM_BLOB_DATA_OFFSET),
								offset_of(jvm, VM_METADATA_OFFSET));
	else
		naming[HOTSPOT_NAMING_METADATA] = place(jvm, VM_NR_VALUES, VM_METADATA_OFFSET);
}

static void set_naming(struct jvm *jvm)
{
	static const struct {
		enum hotspot_naming naming;
		enum vm_value value;
	} fields[] = {
		{ HOTSPOT_NAMING_BLOB_BYTES, VM_SIZE_CODE_BLOB },
		{ HOTSPOT_NAMING_NMETHOD_BYTES, VM_SIZE_NMETHOD },
		{ HOTSPOT_NAMING_BLOB_NAME, VM_BLOB_NAME },
		{ HOTSPOT_NAMING_COMPILE_ID, VM_NMETHOD_COMPILE_ID },
		{ HOTSPOT_NAMING_METHOD_CONST, VM_METHOD_CONST },
		{ HOTSPOT_NAMING_CONST_BYTES, VM_SIZE_CONST_METHOD },
		{ HOTSPOT_NAMING_CONST_CONSTANTS, VM_CONST_CONSTANTS },
		{ HOTSPOT_NAMING_CONST_SIZE, VM_CONST_SIZE },
		{ HOTSPOT_NAMING_CONST_CODE_SIZE, VM_CONST_CODE_SIZE },
		{ HOTSPOT_NAMING_CONST_NAME_INDEX, VM_CONST_NAME_INDEX },
		{ HOTSPOT_NAMING_POOL_BYTES, VM_SIZE_CONSTANT_POOL },
		{ HOTSPOT_NAMING_POOL_HOLDER, VM_POOL_HOLDER },
		{ HOTSPOT_NAMING_POOL_LENGTH, VM_POOL_LENGTH },
		{ HOTSPOT_NAMING_POOL_SOURCE_FILE, VM_POOL_SOURCE_FILE },
		{ HOTSPOT_NAMING_KLASS_SOURCE_FILE, VM_KLASS_SOURCE_FILE },
		{ HOTSPOT_NAMING_KLASS_NAME, VM_KLASS_NAME },
		{ HOTSPOT_NAMING_SYMBOL_LENGTH, VM_SYMBOL_LENGTH },
		{ HOTSPOT_NAMING_SYMBOL_BODY, VM_SYMBOL_BODY },
	};
	uint64_t *naming = jvm->found->naming;
	enum vm_value method = either(jvm, VM_NMETHOD_METHOD, VM_COMPILED_METHOD);
	enum vm_value flags = either(jvm, VM_CONST_NEW_FLAGS, VM_CONST_FLAGS);

	_Static_assert(HOTSPOT_NAMING_NR <= RUNTIME_NAMING_VALUES, "all have a place");
	_Static_assert(VM_NONE == HOTSPOT_NAMING_NONE, "a missing field is kept as it is");
	for (size_t i = 0; i < array_len(fields); i++)
		naming[fields[i].naming] = value_of(jvm, fields[i].value);
	naming[HOTSPOT_NAMING_NMETHOD_METHOD] = value_of(jvm, method);
	naming[HOTSPOT_NAMING_CONST_FLAGS] = flags < VM_NR_VALUES ? value_of(jvm, flags)
								  : HOTSPOT_NAMING_NONE;
	naming[HOTSPOT_NAMING_NR_EXCLUDED] = jvm->found->version >= 20U << 24;
	set_places(jvm);
}

/* Reads the addresses of the code caches. Returns their number. */
static int read_heaps(struct jvm *jvm, uint64_t ret_heaps[static RUNTIME_MAX_CODE])
{
	enum vm_value len_offset = either(jvm, VM_ARRAY_LEN, VM_OLD_ARRAY_LEN);
	uint64_t array = 0, data = 0;
	uint32_t len = 0;
	int r;

	if (is_jdk_8(jvm)) {
		r = process_memory_read_u64(jvm->memory, value_of(jvm, VM_CODE_HEAP), ret_heaps);
		return r < 0 ? r : ret_heaps[0] != 0;
	}
	r = process_memory_read_u64(jvm->memory, value_of(jvm, VM_CODE_HEAPS), &array);
	if (r < 0 || array == 0)
		return r;
	if (len_offset == VM_NR_VALUES || !has(jvm, VM_ARRAY_DATA))
		return -EBADMSG;
	r = process_memory_read_u32(jvm->memory, array + value_of(jvm, len_offset), &len);
	if (r == 0)
		r = process_memory_read_u64(jvm->memory, array + value_of(jvm, VM_ARRAY_DATA),
					    &data);
	if (r < 0)
		return r;
	if (len > RUNTIME_MAX_CODE)
		return -EBADMSG;
	r = process_memory_read(jvm->memory, data, ret_heaps, len * sizeof(*ret_heaps));
	return r < 0 ? r : (int)len;
}

static int read_heap(struct jvm *jvm, uint64_t heap, struct runtime_code *ret_code)
{
	uint64_t memory = heap + value_of(jvm, VM_HEAP_MEMORY);
	uint64_t segments = heap + value_of(jvm, VM_HEAP_SEGMENT_MAP);
	uint64_t start = 0, end = 0, map = 0;
	uint32_t log2_segment = 0;
	int r = process_memory_read_u64(jvm->memory, memory + value_of(jvm, VM_SPACE_LOW_BOUNDARY),
					&start);

	if (r == 0)
		r = process_memory_read_u64(jvm->memory,
					    memory + value_of(jvm, VM_SPACE_HIGH_BOUNDARY), &end);
	if (r == 0)
		r = process_memory_read_u64(jvm->memory, segments + value_of(jvm, VM_SPACE_LOW),
					    &map);
	if (r == 0)
		r = process_memory_read_u32(jvm->memory, heap + value_of(jvm, VM_HEAP_LOG2_SEGMENT),
					    &log2_segment);
	if (r < 0)
		return r;
	if (start > end || end - start > MAX_CODE_BYTES || log2_segment > MAX_LOG2_SEGMENT ||
	    (jvm->log2_segment != 0 && log2_segment != jvm->log2_segment))
		return -EBADMSG;
	jvm->log2_segment = log2_segment;
	*ret_code = (struct runtime_code){ .start = start, .end = end, .data = map };
	return 0;
}

/* Returns whether the code caches and the call stub are there. The latter is made last. */
static int read_process(struct jvm *jvm)
{
	struct runtime_process *process = &jvm->found->process;
	uint64_t heaps[RUNTIME_MAX_CODE] = { 0 };
	uint64_t call_stub = 0;
	int nr_heaps, r;

	r = process_memory_read_u64(jvm->memory, value_of(jvm, VM_CALL_STUB_RETURN), &call_stub);
	if (r < 0 || call_stub == 0)
		return r;
	nr_heaps = read_heaps(jvm, heaps);
	if (nr_heaps <= 0)
		return nr_heaps;
	for (int i = 0; i < nr_heaps; i++) {
		r = read_heap(jvm, heaps[i], &process->code[i]);
		if (r < 0)
			return r;
	}
	process->kind = RUNTIME_HOTSPOT;
	process->words[HOTSPOT_WORD_CALL_STUB] = call_stub;
	jvm->found->has_process = true;
	return 1;
}

static int inspect(struct jvm *jvm, const uint64_t *symbols)
{
	int r = vm_structs_read(jvm->memory, symbols, &jvm->structs);

	if (r < 0)
		return r;
	if (!is_complete(jvm))
		return 0;
	r = read_version(jvm);
	if (r == 0)
		r = read_process(jvm);
	if (r < 0)
		return r;
	jvm->found->state = r > 0 ? RUNTIME_READY : RUNTIME_PENDING;
	set_layout(jvm);
	set_naming(jvm);
	return 0;
}

int hotspot_inspect(struct process_memory *memory, const struct runtime_file *file, uint64_t bias,
		    struct runtime_found *ret_found)
{
	struct runtime_found found = { .version = file->version };
	struct jvm jvm = { .memory = memory, .found = &found };
	uint64_t symbols[VM_NR_SYMBOLS];
	int r;

	for (unsigned int i = 0; i < VM_NR_SYMBOLS; i++)
		symbols[i] = file->values[i] + bias;
	r = inspect(&jvm, symbols);
	if (r == -EBADMSG)
		(void)say(&jvm, "the JVM's description of itself", "is damaged");
	else if (r < 0)
		return r;
	*ret_found = found;
	return 0;
}

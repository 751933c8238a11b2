/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/hotspot_inspect.h"

#include "base/cleanup.h"
#include "hotspot_memory.h"
#include "runtime/hotspot/vm_structs.h"
#include "unit.h"

#include <string.h>

#define BIAS 0x800

/* The offsets of the fields of the tables' entries. */
enum { TYPE_NAME = 0, FIELD_NAME = 8, FIELD_TYPE = 16, IS_STATIC = 24, OFFSET = 32, ADDRESS = 40 };
enum { STRIDE = 48, TYPE_SIZE = 24, TYPE_STRIDE = 40 };

#define MAX_FIELDS 80

struct field {
	const char *type, *name, *field_type;
	uint64_t address; /* of a static field, else 0 */
	uint64_t offset;
};

struct jvm {
	struct hotspot_memory objects;
	struct runtime_file file;
	struct runtime_found found;
	struct field fields[MAX_FIELDS];
	size_t nr_fields;
	uint64_t call_stub, heaps, version[3]; /* addresses of static fields */
	uint64_t array, heap;
};

static void add_field(struct jvm *jvm, const char *type, const char *name, const char *field_type,
		      uint64_t offset)
{
	assert_true(jvm->nr_fields < MAX_FIELDS);
	jvm->fields[jvm->nr_fields++] = (struct field){ type, name, field_type, 0, offset };
}

static uint64_t add_static(struct jvm *jvm, const char *type, const char *name)
{
	uint64_t address = hotspot_memory_reserve(&jvm->objects, 8);

	add_field(jvm, type, name, "address", 0);
	jvm->fields[jvm->nr_fields - 1].address = address;
	return address;
}

static struct field *find_field(struct jvm *jvm, const char *name)
{
	for (size_t i = 0; i < jvm->nr_fields; i++)
		if (strcmp(jvm->fields[i].name, name) == 0)
			return &jvm->fields[i];
	fail();
	return NULL;
}

/* As in JDK 25. */
static void add_fields(struct jvm *jvm)
{
	static const struct field fields[] = {
		{ "CodeBlob", "_name", "const char*", 0, 8 },
		{ "CodeBlob", "_frame_size", "int", 0, 44 },
		{ "CodeBlob", "_frame_complete_offset", "int16_t", 0, 54 },
		{ "CodeBlob", "_code_offset", "int", 0, 36 },
		{ "CodeBlob", "_mutable_data", "address", 0, 16 },
		{ "CodeBlob", "_relocation_size", "int", 0, 28 },
		{ "nmethod", "_compile_id", "int", 0, 212 },
		{ "nmethod", "_orig_pc_offset", "int", 0, 208 },
		{ "nmethod", "_method", "Method*", 0, 80 },
		{ "nmethod", "_immutable_data", "address", 0, 96 },
		{ "nmethod", "_immutable_data_size", "int", 0, 160 },
		{ "nmethod", "_scopes_data_offset", "int", 0, 200 },
		{ "nmethod", "_scopes_pcs_offset", "int", 0, 196 },
		{ "nmethod", "_deopt_handler_offset", "int", 0, 176 },
		{ "Method", "_constMethod", "ConstMethod*", 0, 8 },
		{ "ConstMethod", "_constants", "ConstantPool*", 0, 8 },
		{ "ConstMethod", "_constMethod_size", "int", 0, 24 },
		{ "ConstMethod", "_code_size", "u2", 0, 34 },
		{ "ConstMethod", "_name_index", "u2", 0, 36 },
		{ "ConstantPool", "_pool_holder", "InstanceKlass*", 0, 24 },
		{ "ConstantPool", "_length", "int", 0, 60 },
		{ "Klass", "_name", "Symbol*", 0, 24 },
		{ "Symbol", "_length", "u2", 0, 4 },
		{ "Symbol", "_body", NULL, 0, 6 },
		{ "CodeHeap", "_memory", "VirtualSpace", 0, 0 },
		{ "CodeHeap", "_segmap", "VirtualSpace", 0, 112 },
		{ "CodeHeap", "_log2_segment_size", "int", 0, 248 },
		{ "VirtualSpace", "_low_boundary", "char*", 0, 0 },
		{ "VirtualSpace", "_high_boundary", "char*", 0, 8 },
		{ "VirtualSpace", "_low", "char*", 0, 16 },
		{ "GrowableArrayBase", "_len", "int", 0, 0 },
		{ "GrowableArray<int>", "_data", "int*", 0, 8 },
	};

	for (size_t i = 0; i < array_len(fields); i++)
		add_field(jvm, fields[i].type, fields[i].name, fields[i].field_type,
			  fields[i].offset);
	jvm->version[0] = add_static(jvm, "Abstract_VM_Version", "_vm_major_version");
	jvm->version[1] = add_static(jvm, "Abstract_VM_Version", "_vm_minor_version");
	jvm->version[2] = add_static(jvm, "Abstract_VM_Version", "_vm_security_version");
	jvm->call_stub = add_static(jvm, "StubRoutines", "_call_stub_return_address");
	jvm->heaps = add_static(jvm, "CodeCache", "_heaps");
}

static void put_name(struct jvm *jvm, uint64_t address, const char *name)
{
	if (name)
		hotspot_memory_put_u64(&jvm->objects, address,
				       hotspot_memory_put_text(&jvm->objects, name));
}

static uint64_t put_structs(struct jvm *jvm)
{
	uint64_t table = hotspot_memory_reserve(&jvm->objects, (jvm->nr_fields + 1) * STRIDE);

	for (size_t i = 0; i < jvm->nr_fields; i++) {
		const struct field *field = &jvm->fields[i];
		uint64_t entry = table + i * STRIDE;

		put_name(jvm, entry + TYPE_NAME, field->type);
		put_name(jvm, entry + FIELD_NAME, field->name);
		put_name(jvm, entry + FIELD_TYPE, field->field_type);
		hotspot_memory_put_u32(&jvm->objects, entry + IS_STATIC, field->address != 0);
		hotspot_memory_put_u64(&jvm->objects, entry + OFFSET, field->offset);
		hotspot_memory_put_u64(&jvm->objects, entry + ADDRESS, field->address);
	}
	return table;
}

static uint64_t put_types(struct jvm *jvm)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} types[] = { { "HeapBlock", 8 },    { "CodeBlob", 64 },     { "nmethod", 224 },
		      { "ConstMethod", 56 }, { "ConstantPool", 72 }, { "ContinuationEntry", 56 },
		      { "Other", 1 << 20 } };
	uint64_t table = hotspot_memory_reserve(&jvm->objects,
						(array_len(types) + 1) * TYPE_STRIDE);

	for (size_t i = 0; i < array_len(types); i++) {
		put_name(jvm, table + i * TYPE_STRIDE, types[i].name);
		hotspot_memory_put_u64(&jvm->objects, table + i * TYPE_STRIDE + TYPE_SIZE,
				       types[i].bytes);
	}
	return table;
}

/* Writes the tables, and the symbols that point to them. */
static void put_tables(struct jvm *jvm)
{
	uint64_t values[VM_NR_SYMBOLS] = {
		[VM_SYMBOL_STRUCTS] = put_structs(jvm),
		[VM_SYMBOL_STRUCT_STRIDE] = STRIDE,
		[VM_SYMBOL_STRUCT_TYPE_NAME] = TYPE_NAME,
		[VM_SYMBOL_STRUCT_FIELD_NAME] = FIELD_NAME,
		[VM_SYMBOL_STRUCT_FIELD_TYPE] = FIELD_TYPE,
		[VM_SYMBOL_STRUCT_IS_STATIC] = IS_STATIC,
		[VM_SYMBOL_STRUCT_OFFSET] = OFFSET,
		[VM_SYMBOL_STRUCT_ADDRESS] = ADDRESS,
		[VM_SYMBOL_TYPES] = put_types(jvm),
		[VM_SYMBOL_TYPE_STRIDE] = TYPE_STRIDE,
		[VM_SYMBOL_TYPE_NAME] = 0,
		[VM_SYMBOL_TYPE_SIZE] = TYPE_SIZE,
	};

	for (int i = 0; i < VM_NR_SYMBOLS; i++) {
		uint64_t address = hotspot_memory_reserve(&jvm->objects, 8);

		hotspot_memory_put_u64(&jvm->objects, address, values[i]);
		jvm->file.values[i] = address - BIAS;
	}
}

static void put_symbol(struct jvm *jvm, enum vm_symbol symbol, uint64_t value)
{
	hotspot_memory_put_u64(&jvm->objects, jvm->file.values[symbol] + BIAS, value);
}

/* One code cache of 64 KB, and a call stub. */
static void start(struct jvm *jvm)
{
	uint64_t data = hotspot_memory_reserve(&jvm->objects, 8);

	jvm->heap = hotspot_memory_reserve(&jvm->objects, 256);
	jvm->array = hotspot_memory_reserve(&jvm->objects, 16);
	hotspot_memory_put_u64(&jvm->objects, jvm->heap, 0x70000000);
	hotspot_memory_put_u64(&jvm->objects, jvm->heap + 8, 0x70010000);
	hotspot_memory_put_u64(&jvm->objects, jvm->heap + 128, 0x60000000);
	hotspot_memory_put_u32(&jvm->objects, jvm->heap + 248, 7);
	hotspot_memory_put_u64(&jvm->objects, data, jvm->heap);
	hotspot_memory_put_u32(&jvm->objects, jvm->array, 1);
	hotspot_memory_put_u64(&jvm->objects, jvm->array + 8, data);
	hotspot_memory_put_u64(&jvm->objects, jvm->heaps, jvm->array);
	hotspot_memory_put_u64(&jvm->objects, jvm->call_stub, 0x70000cc9);
	hotspot_memory_put_u32(&jvm->objects, jvm->version[0], 25);
	hotspot_memory_put_u32(&jvm->objects, jvm->version[2], 3);
}

static void jvm_init(struct jvm *jvm)
{
	*jvm = (struct jvm){ .file = { .kind = RUNTIME_HOTSPOT } };
	hotspot_memory_init(&jvm->objects);
	add_fields(jvm);
}

static void jvm_done(struct jvm *jvm)
{
	hotspot_memory_done(&jvm->objects);
}

static int inspect(struct jvm *jvm)
{
	return hotspot_inspect(&jvm->objects.memory, &jvm->file, BIAS, &jvm->found);
}

static void assert_unsupported(struct jvm *jvm, const char *reason)
{
	assert_int_equal(inspect(jvm), 0);
	assert_int_equal(jvm->found.state, RUNTIME_UNSUPPORTED);
	assert_string_equal(jvm->found.reason, reason);
}

static void a_jvm_describes_itself(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	const struct hotspot_layout *layout = &jvm.found.layout.hotspot;
	(void)state;

	jvm_init(&jvm);
	put_tables(&jvm);
	start(&jvm);
	assert_int_equal(inspect(&jvm), 0);
	assert_int_equal(jvm.found.state, RUNTIME_READY);
	assert_int_equal(jvm.found.version, 25U << 24 | 3U << 8);
	assert_false(jvm.found.is_shared);
	assert_int_equal(jvm.found.process.kind, RUNTIME_HOTSPOT);
	assert_int_equal(jvm.found.process.code[0].start, 0x70000000);
	assert_int_equal(jvm.found.process.code[0].end, 0x70010000);
	assert_int_equal(jvm.found.process.code[0].data, 0x60000000);
	assert_int_equal(jvm.found.process.code[1].end, 0);
	assert_int_equal(jvm.found.process.words[HOTSPOT_WORD_CALL_STUB], 0x70000cc9);
	assert_int_equal(layout->kind, RUNTIME_HOTSPOT);
	assert_int_equal(layout->log2_segment, 7);
	assert_int_equal(layout->heap_block, 8);
	assert_int_equal(layout->frame_complete_bytes, 2);
	assert_false(layout->is_code_pointer);
	assert_int_equal(layout->code, 36);
	assert_int_equal(layout->deopt, 176);
	assert_int_equal(layout->continuation, HOTSPOT_NONE);
	assert_int_equal(layout->continuation_bytes, 64);
	assert_int_equal(jvm.found.naming[HOTSPOT_NAMING_PCS],
			 hotspot_memory_naming[HOTSPOT_NAMING_PCS]);
	assert_int_equal(jvm.found.naming[HOTSPOT_NAMING_METADATA],
			 hotspot_memory_naming[HOTSPOT_NAMING_METADATA]);
	assert_int_equal(jvm.found.naming[HOTSPOT_NAMING_NR_EXCLUDED], 1);
}

static void a_jvm_that_starts_is_pending(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	put_tables(&jvm);
	assert_int_equal(inspect(&jvm), 0);
	assert_int_equal(jvm.found.state, RUNTIME_PENDING);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.call_stub, 0);
	assert_int_equal(inspect(&jvm), 0);
	assert_int_equal(jvm.found.state, RUNTIME_PENDING);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.heaps, 0);
	assert_int_equal(inspect(&jvm), 0);
	assert_int_equal(jvm.found.state, RUNTIME_PENDING);
}

static void jdk_8_has_one_code_cache(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	find_field(&jvm, "_heaps")->name = "_heap";
	put_tables(&jvm);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.heaps, jvm.heap);
	assert_int_equal(inspect(&jvm), 0);
	assert_int_equal(jvm.found.state, RUNTIME_READY);
	assert_int_equal(jvm.found.version, 8U << 24);
	assert_int_equal(jvm.found.layout.hotspot.bcp, 7);
	assert_int_equal(jvm.found.naming[HOTSPOT_NAMING_NR_EXCLUDED], 0);
}

static void what_the_jvm_does_not_tell_is_named(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	find_field(&jvm, "_constMethod")->name = "_other";
	put_tables(&jvm);
	start(&jvm);
	assert_unsupported(&jvm, "the JVM does not describe Method._constMethod");
}

static void offsets_are_small(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	find_field(&jvm, "_constMethod")->offset = 4096;
	put_tables(&jvm);
	start(&jvm);
	assert_unsupported(&jvm, "the JVM describes impossible offsets");
}

static void damaged_tables_are_said_to_be(void **state)
{
	static const char *const reason = "the JVM's description of itself is damaged";
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	put_tables(&jvm);
	start(&jvm);
	put_symbol(&jvm, VM_SYMBOL_STRUCT_STRIDE, 0);
	assert_unsupported(&jvm, reason);
	put_symbol(&jvm, VM_SYMBOL_STRUCT_STRIDE, UINT64_MAX);
	assert_unsupported(&jvm, reason);
	put_symbol(&jvm, VM_SYMBOL_STRUCT_STRIDE, STRIDE);
	put_symbol(&jvm, VM_SYMBOL_STRUCT_OFFSET, 1 << 20);
	assert_unsupported(&jvm, reason);
}

static void damaged_code_caches_are_said_to_be(void **state)
{
	static const char *const reason = "the JVM's description of itself is damaged";
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	put_tables(&jvm);
	start(&jvm);
	hotspot_memory_put_u32(&jvm.objects, jvm.array, RUNTIME_MAX_CODE + 1);
	assert_unsupported(&jvm, reason);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.heap + 8, 0x60000000);
	assert_unsupported(&jvm, reason);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.heap + 8, UINT64_MAX);
	assert_unsupported(&jvm, reason);
	start(&jvm);
	hotspot_memory_put_u32(&jvm.objects, jvm.heap + 248, 64);
	assert_unsupported(&jvm, reason);
}

static void memory_that_cannot_be_read_is_an_error(void **state)
{
	_cleanup_(jvm_done) struct jvm jvm;
	(void)state;

	jvm_init(&jvm);
	put_tables(&jvm);
	start(&jvm);
	hotspot_memory_put_u64(&jvm.objects, jvm.heaps, HOTSPOT_MEMORY_BYTES);
	assert_int_equal(inspect(&jvm), -EFAULT);
	put_symbol(&jvm, VM_SYMBOL_TYPES, INT64_MAX - 7);
	assert_int_equal(inspect(&jvm), -EFAULT);
	jvm.objects.memory.nr_left = 100;
	assert_int_equal(inspect(&jvm), -EDQUOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jvm_describes_itself),
		cmocka_unit_test(a_jvm_that_starts_is_pending),
		cmocka_unit_test(jdk_8_has_one_code_cache),
		cmocka_unit_test(what_the_jvm_does_not_tell_is_named),
		cmocka_unit_test(offsets_are_small),
		cmocka_unit_test(damaged_tables_are_said_to_be),
		cmocka_unit_test(damaged_code_caches_are_said_to_be),
		cmocka_unit_test(memory_that_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

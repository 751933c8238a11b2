/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a HotSpot JVM among native ones, with a code cache made by hand. Its blobs have eight
 * segments each. */
#include "bpf/shared/runtime.h"
#include "scene.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

#define CODE_CACHE 0x72000000ULL
#define NR_BLOBS 16
#define BLOB_BYTES 0x400ULL
#define LOG2_SEGMENT 7
#define SEGMENTS (BLOB_BYTES >> LOG2_SEGMENT)
#define HEAP_BLOCK 8
#define CODE_OFFSET 0xf8 /* of the code in a blob */
#define BLOB(i) (CODE_CACHE + BLOB_BYTES * (i) + HEAP_BLOCK)
#define CODE(i) (BLOB(i) + CODE_OFFSET)

#define SEGMENT_MAP 0x73000000ULL
#define NAMES 0x74000000ULL
#define NAME_BYTES 64ULL
#define METHOD 0x75000000ULL
#define CONST_METHOD 0x75001000ULL
#define THREAD 0x76000000ULL

#define NMETHOD 0 /* blobs */
#define INTERPRETER 1
#define STUBS 2
#define CONTINUATION_STUBS 3
#define RUNTIME_STUB 4

#define COMPILE_ID 0x30007
#define FRAME_WORDS 4 /* of the nmethod */
#define FRAME_COMPLETE 0x20
#define CALL_STUB (CODE(STUBS) + 0x30)
#define BYTECODES 10
#define FP_WORD 12 /* of the stack, to which frame pointers of tests point */

#define COMPILED(i, id, offset) RUNTIME_TAG(RUNTIME_FRAME_JVM_COMPILED, id, offset), BLOB(i)
#define IN_NMETHOD(offset) COMPILED(NMETHOD, COMPILE_ID, offset)
#define INTERPRETED(bci)                                                                           \
	RUNTIME_TAG(RUNTIME_FRAME_JVM_INTERPRETED, runtime_check(CONST_METHOD), bci), METHOD
#define MARK(mark) RUNTIME_TAG(RUNTIME_FRAME_MARK, 0, RUNTIME_MARK_##mark)

/* As in JDK 25. */
static const struct hotspot_layout layout_25 = {
	.kind = RUNTIME_HOTSPOT,
	.log2_segment = LOG2_SEGMENT,
	.frame_complete_bytes = 2,
	.bcp = 8,
	.heap_block = HEAP_BLOCK,
	.name = 8,
	.code = 36,
	.frame_size = 44,
	.frame_complete = 54,
	.compile_id = 212,
	.deopt = 176,
	.orig_pc = 208,
	.const_method = 8,
	.const_method_bytes = 56,
	.code_size = 34,
	.continuation = 1560,
	.continuation_bytes = 64,
};

struct jvm {
	struct hotspot_layout layout;
	uint8_t code_cache[NR_BLOBS * BLOB_BYTES];
	uint8_t segment_map[NR_BLOBS * SEGMENTS];
	uint64_t stack[32];
};

static struct jvm jvm;

static void set_u32(uint32_t blob, uint32_t offset, uint32_t value)
{
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + offset, &value, sizeof(value));
}

static void set_code(uint32_t blob, uint64_t offset, const void *bytes, size_t len)
{
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + CODE_OFFSET + offset, bytes, len);
}

static void make_blob(uint32_t blob, const char *name, uint32_t frame_words)
{
	uint64_t address = NAMES + blob * NAME_BYTES;
	char bytes[NAME_BYTES] = { 0 };

	snprintf(bytes, sizeof(bytes), "%s", name);
	fake_add_memory(address, bytes, sizeof(bytes));
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + layout_25.name, &address,
	       sizeof(address));
	set_u32(blob, layout_25.code, CODE_OFFSET);
	set_u32(blob, layout_25.frame_size, frame_words);
	set_u32(blob, layout_25.frame_complete - 2, FRAME_COMPLETE << 16);
}

static void make_method(void)
{
	uint8_t bytes[64] = { 0 };
	const uint64_t const_method = CONST_METHOD;

	memcpy(bytes + layout_25.const_method, &const_method, sizeof(const_method));
	fake_add_memory(METHOD, bytes, sizeof(bytes));
	memset(bytes, 0, sizeof(bytes));
	bytes[layout_25.code_size] = BYTECODES;
	fake_add_memory(CONST_METHOD, bytes, sizeof(bytes));
}

static void begin(void)
{
	scene_begin();
	memset(&jvm, 0, sizeof(jvm));
	jvm.layout = layout_25;
	for (uint32_t i = 0; i < sizeof(jvm.segment_map); i++)
		jvm.segment_map[i] = i % SEGMENTS;
	make_blob(NMETHOD, "nmethod", FRAME_WORDS);
	make_blob(INTERPRETER, "Interpreter", 0);
	make_blob(STUBS, "StubRoutines (initialstubs)", 0);
	make_blob(CONTINUATION_STUBS, "StubRoutines (continuationstubs)", 0);
	make_blob(RUNTIME_STUB, "new_instance Runtime1 stub", FRAME_WORDS);
	set_u32(NMETHOD, layout_25.compile_id, COMPILE_ID);
	make_method();
	for (unsigned int i = 10; i < 20; i++)
		scene_set_rule(i, scene_rule(CFA_END, 0, 0));
}

/* Writes the table, which has the file's code and the JVM's descriptor. */
static void put_table(void)
{
	struct mapping_table head = { .id = SCENE_LIST_ID,
				      .nr_ranges = 2,
				      .ranges_offset = 64,
				      .runtimes_offset = 128,
				      .nr_runtimes = 1 };
	const struct mapping_range ranges[] = {
		{ .bias = SCENE_CODE - SCENE_FILE_OFFSET, .slot = SCENE_SLOT }, { .is_hole = 1 }
	};
	const uint64_t starts[] = { SCENE_CODE, SCENE_CODE_END };
	struct runtime_descriptor descriptor = { 0 };
	uint8_t table[128 + sizeof(descriptor)] = { 0 };

	descriptor.process.kind = RUNTIME_HOTSPOT;
	descriptor.process.words[HOTSPOT_WORD_CALL_STUB] = CALL_STUB;
	descriptor.process.code[1] = (struct runtime_code){
		.start = CODE_CACHE, .end = CODE_CACHE + sizeof(jvm.code_cache), .data = SEGMENT_MAP
	};
	descriptor.layout.hotspot = jvm.layout;
	memcpy(table, &head, sizeof(head));
	memcpy(table + MAPPING_TABLE_STARTS, starts, sizeof(starts));
	memcpy(table + head.ranges_offset, ranges, sizeof(ranges));
	memcpy(table + head.runtimes_offset, &descriptor, sizeof(descriptor));
	fake_put(SCENE_LIST, table, sizeof(table));
}

static void put_memory(void)
{
	fake_add_memory(CODE_CACHE, jvm.code_cache, sizeof(jvm.code_cache));
	fake_add_memory(SEGMENT_MAP, jvm.segment_map, sizeof(jvm.segment_map));
	scene_set_stack(jvm.stack, array_len(jvm.stack));
	put_table();
}

#define assert_java(result, ...)                                                                   \
	do {                                                                                       \
		put_memory();                                                                      \
		assert_unwinds(result, __VA_ARGS__);                                               \
	} while (0)

static void set_leaf(uint64_t address)
{
	fake_state()->ip = address;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
}

static void a_compiled_frame_has_a_fixed_size(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
	begin();
	jvm.stack[0] = CODE(RUNTIME_STUB) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(RUNTIME_STUB, 0, 0x3f), IN_ROOT);
}

static void blobs_told_by_pointers_are_those_of_older_versions(void **state)
{
	const uint64_t code = CODE(NMETHOD);
	(void)state;

	begin();
	jvm.layout.is_code_pointer = true;
	jvm.layout.code = 64;
	jvm.layout.frame_complete_bytes = 4;
	jvm.layout.frame_complete = 56;
	memcpy(jvm.code_cache + HEAP_BLOCK + jvm.layout.code, &code, sizeof(code));
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
}

/* The places where the return address of the leaf is, by its code. */
struct phase {
	uint8_t before[8];
	uint8_t at[16];
	uint32_t offset;
	uint32_t word; /* of the stack */
};

#define BARE 0
#define PUSHED 1
#define FRAME (FRAME_WORDS - 1)

static const struct phase phases[] = {
	/* The prologue: stack bang, push, sub; or sub, mov. */
	{ { 0x90 }, { 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55 }, 0, BARE },
	{ { 0, 0, 0, 0, 0x00, 0xc0, 0xfe, 0xff }, { 0x55, 0x48, 0x83, 0xec, 0x10 }, 7, BARE },
	{ { 0, 0, 0, 0, 0, 0xfe, 0xff, 0x55 }, { 0x48, 0x83, 0xec, 0x10 }, 8, PUSHED },
	{ { 0, 0, 0, 0, 0x55, 0x48, 0x8b, 0xec }, { 0x48, 0x83, 0xec, 0x10 }, 11, PUSHED },
	{ { 0, 0, 0, 0x55, 0x48, 0x83, 0xec, 0x10 }, { 0x90 }, 12, FRAME },
	{ { 0x55, 0x48, 0x81, 0xec, 0, 1, 0, 0 }, { 0x90 }, 15, FRAME },
	{ { 0, 0x48, 0x81, 0xec, 0x10, 0, 0, 0 }, { 0x48, 0x89, 0x6c, 0x24, 0x08 }, 7, FRAME },
	{ { 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x08 }, { 0x90 }, 12, FRAME },
	{ { 0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0 }, { 0x0f, 0x85, 0, 0, 0, 0 }, 24, FRAME },
	/* The body. */
	{ { 0x90 }, { 0x90 }, 0x40, FRAME },
	{ { 0x55 }, { 0x90 }, 0x40, FRAME },
	{ { 0x48, 0x83, 0xec, 0x10 }, { 0x90 }, 0x40, FRAME },
	/* The epilogue: add, pop, poll, ret. */
	{ { 0x90 }, { 0x48, 0x83, 0xc4, 0x10, 0x5d }, 0x40, FRAME },
	{ { 0x48, 0x83, 0xc4, 0x10 }, { 0x5d, 0xc3 }, 0x44, PUSHED },
	{ { 0x5d }, { 0xc3 }, 0x45, BARE },
	{ { 0x5d }, { 0xc2, 0x10, 0x00 }, 0x45, BARE },
	{ { 0x5d }, { 0x49, 0x3b, 0xa7, 0x48, 3, 0, 0, 0x0f, 0x87 }, 0x45, BARE },
	{ { 0x5d, 0x49, 0x3b, 0xa7, 0x48, 3, 0, 0 }, { 0x0f, 0x87, 0, 0, 0, 0, 0xc3 }, 0x4c, BARE },
	{ { 0x5d }, { 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87 }, 0x45, BARE },
	{ { 0, 0, 0, 0x5d, 0x49, 0x3b, 0x67, 0x28 }, { 0x0f, 0x87, 0, 0, 0, 0 }, 0x49, BARE },
	{ { 0x90 }, { 0x0f, 0x87, 0, 0, 0, 0, 0xc3 }, 0x49, FRAME },
	{ { 0x5d }, { 0x85, 0x05, 1, 2, 3, 4, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x85, 0x05, 1, 2, 3, 4, 0x90 }, 0x45, FRAME },
	{ { 0x5d }, { 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0x90 }, 0x45, FRAME },
	{ { 0x90 }, { 0x41, 0x85, 0x02, 0xc3 }, 0x45, BARE },
	{ { 0x90 }, { 0x41, 0x85, 0x02, 0x90 }, 0x45, FRAME },
};

static void the_code_at_the_leaf_tells_how_much_of_a_frame_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(phases); i++) {
		const struct phase *phase = &phases[i];

		begin();
		set_code(NMETHOD, phase->offset - 8ULL, phase->before, sizeof(phase->before));
		set_code(NMETHOD, phase->offset, phase->at, sizeof(phase->at));
		set_leaf(CODE(NMETHOD) + phase->offset);
		for (uint32_t word = 0; word < FRAME_WORDS; word++)
			jvm.stack[word] = IN_FUNCTION(10 + word);
		assert_java(UNWIND_COMPLETE, IN_NMETHOD(phase->offset),
			    IN_FUNCTION(10 + phase->word));
	}
}

/* Native methods of method handles never have a frame. */
static void a_frame_that_is_never_complete_has_its_return_address_on_top(void **state)
{
	(void)state;
	begin();
	make_blob(NMETHOD + 5, "native nmethod", 0);
	set_u32(NMETHOD + 5, layout_25.frame_complete - 2, 0xffff0000);
	set_leaf(CODE(NMETHOD + 5) + 0x80);
	jvm.stack[0] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(NMETHOD + 5, 0, 0x80), IN_ROOT);
}

static void deoptimized_code_goes_on_where_it_was(void **state)
{
	(void)state;
	begin();
	set_u32(NMETHOD, layout_25.deopt, CODE_OFFSET + 0x80);
	set_u32(NMETHOD, layout_25.orig_pc, 8);
	jvm.stack[0] = CODE(NMETHOD) + 0x80;
	jvm.stack[2] = CODE(NMETHOD) + 0x50;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x4f), IN_ROOT);
	begin();
	set_u32(NMETHOD, layout_25.deopt, CODE_OFFSET + 0x80);
	set_u32(NMETHOD, layout_25.orig_pc, 8);
	jvm.stack[0] = CODE(NMETHOD) + 0x80;
	jvm.stack[2] = 0x1234;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x7f), IN_ROOT);
}

/* Puts a frame of the interpreter at FP_WORD. */
static void put_interpreted(uint64_t bci, uint64_t sender_sp, uint64_t returns_to)
{
	jvm.stack[FP_WORD - 8] = CONST_METHOD + layout_25.const_method_bytes + bci;
	jvm.stack[FP_WORD - 3] = METHOD;
	jvm.stack[FP_WORD - 1] = sender_sp;
	jvm.stack[FP_WORD] = STACK_WORD(30);
	jvm.stack[FP_WORD + 1] = returns_to;
}

static void an_interpreted_frame_tells_method_and_bytecode(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(7), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], STACK_WORD(30));
}

static void the_bytecode_of_the_leaf_is_in_a_register(void **state)
{
	(void)state;
	begin();
	set_leaf(CODE(INTERPRETER) + 0x40);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	fake_state()->regs[CFI_R13] = CONST_METHOD + layout_25.const_method_bytes + 5;
	assert_java(UNWIND_COMPLETE, INTERPRETED(5), IN_ROOT);
	begin();
	set_leaf(CODE(INTERPRETER) + 0x40);
	put_interpreted(7, STACK_WORD(FP_WORD + 2), IN_ROOT);
	fake_state()->regs[CFI_R13] = CONST_METHOD + layout_25.const_method_bytes + BYTECODES;
	assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_ROOT);
}

static void a_compiled_caller_is_where_the_interpreted_frame_says(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(1, STACK_WORD(20), CODE(NMETHOD) + 0x40);
	jvm.stack[20 + FRAME_WORDS - 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), INTERPRETED(1), IN_NMETHOD(0x3f), IN_ROOT);
}

static void an_interpreted_frame_that_is_being_made_is_known(void **state)
{
	(void)state;
	/* Before the frame record: the return address is on top of the stack, or in rax. */
	for (int is_on_stack = 0; is_on_stack < 2; is_on_stack++) {
		begin();
		set_leaf(CODE(INTERPRETER) + 0x80);
		fake_state()->regs[CFI_RBX] = METHOD;
		fake_state()->regs[CFI_R13] = STACK_WORD(4);
		if (is_on_stack)
			jvm.stack[0] = CODE(NMETHOD) + 0x40;
		else
			fake_state()->regs[CFI_RAX] = CODE(NMETHOD) + 0x40;
		jvm.stack[4 + FRAME_WORDS - 1] = IN_ROOT;
		assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_NMETHOD(0x3f), IN_ROOT);
	}
	/* Behind it. */
	begin();
	fake_state()->ip = CODE(INTERPRETER) + 0x90;
	fake_state()->regs[CFI_RBX] = METHOD;
	fake_state()->regs[CFI_RBP] = STACK_WORD(0);
	fake_state()->regs[CFI_R13] = STACK_WORD(4);
	jvm.stack[1] = CODE(NMETHOD) + 0x40;
	jvm.stack[4 + FRAME_WORDS - 1] = IN_ROOT;
	fake_add_memory(SCENE_STACK - 128, (uint64_t[16]){ 0 }, 128);
	assert_java(UNWIND_COMPLETE, INTERPRETED(0), IN_NMETHOD(0x3f), IN_ROOT);
}

static void the_call_stub_gives_the_native_caller_its_registers(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CALL_STUB;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	for (int i = 1; i < FP_WORD; i++)
		jvm.stack[i] = 0x1000 + (uint64_t)i;
	jvm.stack[FP_WORD] = 0x2000;
	jvm.stack[FP_WORD + 1] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(STUBS, 0, 0x2f), IN_ROOT);
	assert_int_equal(fake_state()->regs[CFI_RBP], 0x2000);
	assert_int_equal(fake_state()->regs[CFI_RBX], 0x1000 + FP_WORD - 7);
	assert_int_equal(fake_state()->regs[CFI_R12], 0x1000 + FP_WORD - 8);
	assert_int_equal(fake_state()->regs[CFI_R15], 0x1000 + FP_WORD - 11);
	assert_true(scene_knows(CFI_RBX) && scene_knows(CFI_R15));
	assert_int_equal(fake_state()->regs[CFI_RSP], STACK_WORD(FP_WORD + 2));
}

static void stubs_have_a_return_address_or_a_frame_record(void **state)
{
	(void)state;
	begin();
	set_leaf(CODE(STUBS) + 0x80);
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	jvm.stack[FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, 0x80), IN_NMETHOD(0x3f), IN_ROOT);
	begin();
	set_leaf(CODE(STUBS) + 0x80);
	jvm.stack[FP_WORD + 1] = CODE(NMETHOD) + 0x40;
	jvm.stack[FP_WORD + 1 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, 0x80), IN_NMETHOD(0x3f), IN_ROOT);
	/* Behind pushes, without a record. */
	begin();
	set_leaf(CODE(STUBS) + 0x80);
	fake_state()->regs[CFI_RBP] = 1;
	jvm.stack[3] = CODE(NMETHOD) + 0x40;
	jvm.stack[3 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, COMPILED(STUBS, 0, 0x80), IN_NMETHOD(0x3f), IN_ROOT);
}

static void the_entry_barrier_has_a_cookie_in_its_frame(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CODE(STUBS) + 0x80;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	jvm.stack[FP_WORD + 1] = UINT64_MAX;
	jvm.stack[FP_WORD + 2] = CODE(NMETHOD) + 0x40;
	jvm.stack[FP_WORD + 2 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), COMPILED(STUBS, 0, 0x7f), IN_NMETHOD(0x3f),
		    IN_ROOT);
}

/* The carrier's frames begin at the thread's continuation entry. */
static void a_virtual_thread_goes_on_in_its_carrier(void **state)
{
	uint8_t thread[2048] = { 0 };
	const uint64_t entry = STACK_WORD(8);
	(void)state;

	begin();
	memcpy(thread + layout_25.continuation, &entry, sizeof(entry));
	fake_add_memory(THREAD, thread, sizeof(thread));
	fake_state()->regs[CFI_R15] = THREAD;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	jvm.stack[17] = CODE(NMETHOD) + 0x40;
	jvm.stack[17 + FRAME_WORDS] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION), IN_NMETHOD(0x3f), IN_ROOT);
	begin();
	fake_add_memory(THREAD, thread, sizeof(thread));
	fake_state()->regs[CFI_R15] = THREAD;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	jvm.stack[17] = IN_ROOT;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION));
	begin();
	jvm.layout.continuation = HOTSPOT_NONE;
	jvm.stack[0] = CODE(CONTINUATION_STUBS) + 0x40;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), MARK(CONTINUATION));
}

/* Sets a frame record that leads from there to the root. */
static void set_record(void)
{
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	jvm.stack[FP_WORD + 1] = IN_ROOT;
}

static void the_frame_pointer_leads_out_of_what_is_damaged(void **state)
{
	static const struct {
		uint32_t segment; /* of the map */
		uint8_t distance;
	} damages[] = { { 1, 0xff }, { 1, 2 }, { 1, 0xfe } };
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		begin();
		jvm.segment_map[damages[i].segment] = damages[i].distance;
		jvm.segment_map[0] = 0;
		jvm.segment_map[2] = 1;
		jvm.stack[0] = CODE(NMETHOD) + 0x10;
		set_record();
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(NMETHOD) + 0x10, IN_ROOT);
	}
}

static void a_long_way_in_the_segment_map_ends(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 1; i < sizeof(jvm.segment_map); i++)
		jvm.segment_map[i] = 1;
	jvm.stack[0] = CODE(8) + 0x10;
	set_record();
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(8) + 0x10, IN_ROOT);
}

static void forged_frames_end_the_stack(void **state)
{
	static const uint32_t sizes[] = { 1U << 21, UINT32_MAX, 1U << 31 };
	(void)state;

	for (size_t i = 0; i < array_len(sizes); i++) {
		begin();
		set_u32(NMETHOD, layout_25.frame_size, sizes[i]);
		jvm.stack[0] = CODE(NMETHOD) + 0x40;
		set_record();
		assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f), IN_ROOT);
	}
	begin();
	set_u32(NMETHOD, layout_25.frame_size, 1U << 20);
	jvm.stack[0] = CODE(NMETHOD) + 0x40;
	fake_state()->regs[CFI_RBP] = 0;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), IN_NMETHOD(0x3f));
}

static void methods_that_are_none_leave_the_frame_pointer(void **state)
{
	(void)state;
	begin();
	jvm.stack[0] = CODE(INTERPRETER) + 0x40;
	fake_state()->regs[CFI_RBP] = STACK_WORD(FP_WORD);
	put_interpreted(1, STACK_WORD(FP_WORD + 2), IN_ROOT);
	jvm.stack[FP_WORD - 3] = 0x1234;
	assert_java(UNWIND_COMPLETE, IN_FUNCTION(1), CODE(INTERPRETER) + 0x40, IN_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compiled_frame_has_a_fixed_size),
		cmocka_unit_test(blobs_told_by_pointers_are_those_of_older_versions),
		cmocka_unit_test(the_code_at_the_leaf_tells_how_much_of_a_frame_is_there),
		cmocka_unit_test(a_frame_that_is_never_complete_has_its_return_address_on_top),
		cmocka_unit_test(deoptimized_code_goes_on_where_it_was),
		cmocka_unit_test(an_interpreted_frame_tells_method_and_bytecode),
		cmocka_unit_test(the_bytecode_of_the_leaf_is_in_a_register),
		cmocka_unit_test(a_compiled_caller_is_where_the_interpreted_frame_says),
		cmocka_unit_test(an_interpreted_frame_that_is_being_made_is_known),
		cmocka_unit_test(the_call_stub_gives_the_native_caller_its_registers),
		cmocka_unit_test(stubs_have_a_return_address_or_a_frame_record),
		cmocka_unit_test(the_entry_barrier_has_a_cookie_in_its_frame),
		cmocka_unit_test(a_virtual_thread_goes_on_in_its_carrier),
		cmocka_unit_test(the_frame_pointer_leads_out_of_what_is_damaged),
		cmocka_unit_test(a_long_way_in_the_segment_map_ends),
		cmocka_unit_test(forged_frames_end_the_stack),
		cmocka_unit_test(methods_that_are_none_leave_the_frame_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

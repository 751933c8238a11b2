/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot_scene.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

const struct hotspot_layout layout_25 = {
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

struct jvm jvm;

void hotspot_scene_set_u32(uint32_t blob, uint32_t offset, uint32_t value)
{
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + offset, &value, sizeof(value));
}

void hotspot_scene_set_code(uint32_t blob, uint64_t offset, const void *bytes, size_t len)
{
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + CODE_OFFSET + offset, bytes, len);
}

/* Numbers are little-endian. */
static void set_frame_complete(uint32_t blob, uint32_t offset)
{
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + jvm.layout.frame_complete, &offset,
	       jvm.layout.frame_complete_bytes);
}

void hotspot_scene_make_blob(uint32_t blob, const char *name, uint32_t frame_words)
{
	uint64_t address = NAMES + blob * NAME_BYTES;
	char bytes[NAME_BYTES] = { 0 };

	snprintf(bytes, sizeof(bytes), "%s", name);
	fake_add_memory(address, bytes, sizeof(bytes));
	memcpy(jvm.code_cache + blob * BLOB_BYTES + HEAP_BLOCK + jvm.layout.name, &address,
	       sizeof(address));
	hotspot_scene_set_u32(blob, jvm.layout.code, CODE_OFFSET);
	hotspot_scene_set_u32(blob, jvm.layout.frame_size, frame_words);
	set_frame_complete(blob, FRAME_COMPLETE);
}

static void make_method(void)
{
	uint8_t bytes[64] = { 0 };
	const uint64_t const_method = CONST_METHOD;

	memcpy(bytes + jvm.layout.const_method, &const_method, sizeof(const_method));
	fake_add_memory(METHOD, bytes, sizeof(bytes));
	memset(bytes, 0, sizeof(bytes));
	bytes[jvm.layout.code_size] = BYTECODES;
	fake_add_memory(CONST_METHOD, bytes, sizeof(bytes));
}

void hotspot_scene_begin_with(const struct hotspot_layout *layout)
{
	scene_begin();
	memset(&jvm, 0, sizeof(jvm));
	jvm.layout = *layout;
	for (uint32_t i = 0; i < sizeof(jvm.segment_map); i++)
		jvm.segment_map[i] = i % SEGMENTS;
	hotspot_scene_make_blob(NMETHOD, "nmethod", FRAME_WORDS);
	hotspot_scene_make_blob(INTERPRETER, "Interpreter", 0);
	hotspot_scene_make_blob(STUBS, "StubRoutines (initialstubs)", 0);
	hotspot_scene_make_blob(CONTINUATION_STUBS, "StubRoutines (continuationstubs)", 0);
	hotspot_scene_make_blob(RUNTIME_STUB, "new_instance Runtime1 stub", FRAME_WORDS);
	hotspot_scene_make_blob(BARE_STUB, "unwind_exception Runtime1 stub", UINT32_MAX);
	hotspot_scene_make_blob(PUSHING_STUB, "monitorexit Runtime1 stub", FRAME_WORDS);
	set_frame_complete(PUSHING_STUB, UINT32_MAX);
	hotspot_scene_set_u32(NMETHOD, jvm.layout.compile_id, COMPILE_ID);
	make_method();
	for (unsigned int i = 10; i < 20; i++)
		scene_set_rule(i, scene_rule(CFA_END, 0, 0));
}

void hotspot_scene_begin(void)
{
	hotspot_scene_begin_with(&layout_25);
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

void hotspot_scene_put(void)
{
	fake_add_memory(CODE_CACHE, jvm.code_cache, sizeof(jvm.code_cache));
	fake_add_memory(SEGMENT_MAP, jvm.segment_map, sizeof(jvm.segment_map));
	scene_set_stack(jvm.stack, array_len(jvm.stack));
	put_table();
}

void hotspot_scene_set_leaf(uint64_t address)
{
	fake_state()->ip = address;
	fake_state()->regs[CFI_FP] = STACK_WORD(FP_WORD);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A process with a HotSpot JVM, made by hand: a scene (scene.h) and a code cache, whose blobs have
 * eight segments each. All tests of a program share it. */
#ifndef TESTS_BPF_HOST_HOTSPOT_SCENE_H
#define TESTS_BPF_HOST_HOTSPOT_SCENE_H

#include "bpf/shared/runtime.h"
#include "tests/bpf_host/scene.h"

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
#define BARE_STUB 6
#define PUSHING_STUB 7 /* never complete, as it pushes registers */

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
extern const struct hotspot_layout layout_25;

struct jvm {
	struct hotspot_layout layout;
	uint8_t code_cache[NR_BLOBS * BLOB_BYTES];
	uint8_t segment_map[NR_BLOBS * SEGMENTS];
	uint64_t stack[32];
};

extern struct jvm jvm;

/* Begins with these blobs and the method, by layout_25 or another layout. */
void hotspot_scene_begin(void);
void hotspot_scene_begin_with(const struct hotspot_layout *layout);

/* Writes a blob with this name and size of its frame, one of its fields, or a part of its code. */
void hotspot_scene_make_blob(uint32_t blob, const char *name, uint32_t frame_words);
void hotspot_scene_set_u32(uint32_t blob, uint32_t offset, uint32_t value);
void hotspot_scene_set_code(uint32_t blob, uint64_t offset, const void *bytes, size_t len);

/* Interrupts the process at an address. */
void hotspot_scene_set_leaf(uint64_t address);

/* Makes all of it the memory of the process. */
void hotspot_scene_put(void);

#define assert_java(result, ...)                                                                   \
	do {                                                                                       \
		hotspot_scene_put();                                                               \
		assert_unwinds(result, __VA_ARGS__);                                               \
	} while (0)

#endif

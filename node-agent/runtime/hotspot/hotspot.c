/* SPDX-License-Identifier: Apache-2.0 */
/* The HotSpot JVM, in OpenJDK and what is made of it, as one of the runtimes. */
#include "runtime/hotspot/compiled_code.h"
#include "runtime/hotspot/hotspot_inspect.h"
#include "runtime/hotspot/hotspot_naming.h"
#include "runtime/hotspot/java_method.h"
#include "runtime/hotspot/vm_structs.h"
#include "runtime/runtime.h"

/* The version is not in the file. It is read from a process. */
static int read_file(struct elf_exports *exports, struct runtime_file *ret_file)
{
	static const char *const names[VM_NR_SYMBOLS] = {
#define X(NAME, symbol) symbol,
		VM_SYMBOLS(X)
#undef X
	};
	struct runtime_file file = { .kind = RUNTIME_HOTSPOT };

	_Static_assert(VM_NR_SYMBOLS <= RUNTIME_FILE_VALUES, "all have a place");
	for (unsigned int i = 0; i < VM_NR_SYMBOLS; i++) {
		struct elf_export symbol;
		int r = elf_exports_find(exports, names[i], &symbol);

		if (r == -ENOENT)
			return 0;
		if (r < 0)
			return r;
		file.values[i] = symbol.address;
	}
	*ret_file = file;
	return 1;
}

static int name_interpreted(struct process_memory *memory, const uint64_t *naming,
			    const uint64_t *words, struct frame_writer *writer)
{
	struct java_place place = { .method = words[1],
				    .bci = (int32_t)(RUNTIME_TAG_POSITION(words[0]) & UINT16_MAX) };
	int r = process_memory_read_u64(memory, place.method + naming[HOTSPOT_NAMING_METHOD_CONST],
					&place.const_method);

	if (r < 0)
		return r;
	if (place.const_method == 0 ||
	    runtime_check(place.const_method) != RUNTIME_TAG_CHECK(words[0]))
		return -ENOENT;
	return java_method_add(memory, naming, &place, writer);
}

static int name_compiled(struct process_memory *memory, const uint64_t *naming,
			 const uint64_t *words, struct frame_writer *writer)
{
	struct code_place place = { .blob = words[1],
				    .compile_id = RUNTIME_TAG_CHECK(words[0]),
				    .pc_offset = (int32_t)(RUNTIME_TAG_POSITION(words[0]) &
							   INT32_MAX) };

	return compiled_code_add(memory, naming, &place, writer);
}

static int name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
		struct frame_writer *writer)
{
	int r = -ENOENT;

	if (RUNTIME_TAG_FRAME(words[0]) == RUNTIME_FRAME_JVM_INTERPRETED)
		r = name_interpreted(memory, naming, words, writer);
	else if (RUNTIME_TAG_FRAME(words[0]) == RUNTIME_FRAME_JVM_COMPILED)
		r = name_compiled(memory, naming, words, writer);
	if (r < 0)
		frame_writer_drop(writer);
	return r == -EBADMSG ? -ENOENT : r;
}

const struct runtime_ops hotspot_runtime = {
	.kind = RUNTIME_HOTSPOT,
	.label = "hotspot",
	.read_file = read_file,
	.inspect = hotspot_inspect,
	.name = name,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/elf_allocators.h"

#include "base/array.h"
#include "elf/elf_dynamic_section.h"
#include "elf/elf_exports.h"

#include <stdbool.h>
#include <string.h>

#define NONE (-1)

/* Which parameters are the size and its factor. realloc() with a size is an allocation of it. */
struct allocator {
	const char *name;
	int size, factor;
};

static const struct allocator functions_of_c[] = {
	{ "malloc", 0, NONE },	       { "calloc", 1, 0 },	{ "realloc", 1, NONE },
	{ "posix_memalign", 2, NONE }, { "memalign", 1, NONE }, { "aligned_alloc", 1, NONE },
	{ "valloc", 0, NONE },	       { "pvalloc", 0, NONE },
};

/* operator new and new[]: plain, with std::nothrow_t, with std::align_val_t, with both. */
static const struct allocator operators_of_cxx[] = {
	{ "_Znwm", 0, NONE },
	{ "_Znam", 0, NONE },
	{ "_ZnwmRKSt9nothrow_t", 0, NONE },
	{ "_ZnamRKSt9nothrow_t", 0, NONE },
	{ "_ZnwmSt11align_val_t", 0, NONE },
	{ "_ZnamSt11align_val_t", 0, NONE },
	{ "_ZnwmSt11align_val_tRKSt9nothrow_t", 0, NONE },
	{ "_ZnamSt11align_val_tRKSt9nothrow_t", 0, NONE },
};

static uint64_t parameter(int number)
{
	return HEAP_USUAL_ARGUMENTS >> (HEAP_ARGUMENT_BITS * number) &
	       ((1 << HEAP_ARGUMENT_BITS) - 1);
}

static uint64_t arguments_of(const struct allocator *allocator)
{
	uint64_t arguments = HEAP_ARGUMENT(0, parameter(allocator->size));

	if (allocator->factor == NONE)
		return arguments;
	return arguments | HEAP_ARGUMENT(1, parameter(allocator->factor)) | HEAP_HAS_FACTOR;
}

/* Two names may stand for one function. */
static bool has_offset(const struct heap_probes *probes, uint64_t offset)
{
	for (size_t i = 0; i < probes->nr; i++)
		if (probes->of[i].offset == offset)
			return true;
	return false;
}

#if defined(__x86_64__)
/* Returns whether the kernel carries the instruction out itself: push or nop. All others it lets
 * the CPU carry out elsewhere, one by one. */
static bool is_fast(const uint8_t *code)
{
	if (code[0] == 0x41) /* for registers from r8 on */
		code++;
	return (code[0] & 0xf8) == 0x50 || code[0] == 0x90;
}
#else
static bool is_fast(const uint8_t *code)
{
	(void)code;
	return true; /* how long others take was not measured */
}
#endif

/* Moves on behind endbr64, and finds out whether the instruction is a slow one for uprobes. */
static int look_at_code(const struct elf_exports *exports, uint64_t *address, bool *ret_is_slow)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[sizeof(endbr64)];

	int r = elf_exports_read(exports, *address, code, sizeof(code));
	if (r == 0 && memcmp(code, endbr64, sizeof(code)) == 0) {
		*address += sizeof(code);
		r = elf_exports_read(exports, *address, code, sizeof(code));
	}
	*ret_is_slow = !is_fast(code);
	return r == -ENOENT ? -EBADMSG : r;
}

static int add(const struct elf_exports *exports, const struct allocator *allocator,
	       struct heap_probes *probes)
{
	struct elf_export function;
	uint64_t address, offset = 0; /* the kernel's 64-bit type is not ours */
	bool is_slow = false;

	int r = elf_exports_find(exports, allocator->name, &function);
	if (r < 0 || function.type != STT_FUNC)
		return r == -ENOENT ? 0 : r;
	address = function.address;
	r = look_at_code(exports, &address, &is_slow);
	if (r == 0)
		r = elf_dynamic_section_find_offset(exports->reader, address, 1, &offset);
	if (r < 0 || probes->nr == HEAP_MAX_PROBES || has_offset(probes, offset))
		return r;
	probes->of[probes->nr++] = (struct heap_probe){
		.offset = offset,
		.arguments = arguments_of(allocator) | (is_slow ? HEAP_IS_SLOW : 0),
		.kind = HEAP_PROBE_CALL,
	};
	return 0;
}

int elf_allocators_find(struct elf_reader *reader, struct heap_probes *probes)
{
	struct elf_exports exports;
	struct elf_export malloc_function;

	int r = elf_exports_init(&exports, reader);
	for (size_t i = 0; r == 0 && i < array_len(functions_of_c); i++)
		r = add(&exports, &functions_of_c[i], probes);
	if (r == 0)
		r = elf_exports_find(&exports, "malloc", &malloc_function);
	for (size_t i = 0; r == 0 && i < array_len(operators_of_cxx); i++)
		r = add(&exports, &operators_of_cxx[i], probes);
	return r == -ENOENT ? 0 : r;
}

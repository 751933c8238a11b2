/* SPDX-License-Identifier: Apache-2.0 */
/* On x86-64, all stubs have the same size. Each jumps through its slot with one instruction:
 *
 *	endbr64; bnd jmp *slot(%rip)		endbr64 and bnd may be missing
 *
 * On arm64, the size depends on the protection against attacks, and the first stub is larger. So
 * they are recognized by their code:
 *
 *	bti c					may be missing
 *	adrp x16, page of the slot
 *	ldr x17, [x16, offset in the page]
 *	add x16, x16, the same offset		for the dynamic linker
 *	autia1716				may be missing
 *	br x17 */
#include "symbol/elf/plt_stubs.h"

#include "elf/elf_reader.h"

#include <string.h>

#define X86_MIN_STUB_BYTES 8
#define X86_MAX_STUB_BYTES 64
#define X86_DEFAULT_STUB_BYTES 16
#define X86_JUMP_BYTES 6 /* ff 25, distance from the end of the jump to the slot */

#define ARM64_BTI_C 0xd503245f
#define ARM64_BR_X17 0xd61f0220
#define ARM64_MAX_STUB_BYTES 20 /* from adrp on */
#define ARM64_PAGE_BYTES 4096

static bool find_x86_slot(const uint8_t *stub, size_t len, uint64_t address, uint64_t *ret_slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t pos = memcmp(stub, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	int32_t distance;

	pos += stub[pos] == 0xf2; /* bnd */
	if (len - pos < X86_JUMP_BYTES || stub[pos] != 0xff || stub[pos + 1] != 0x25)
		return false;
	memcpy(&distance, stub + pos + 2, sizeof(distance));
	*ret_slot = address + pos + X86_JUMP_BYTES + (uint64_t)(int64_t)distance;
	return true;
}

static bool find_x86_stub(struct plt_code *code, struct plt_stub *ret_stub)
{
	uint64_t len = code->stub_bytes;

	if (len < X86_MIN_STUB_BYTES || len > X86_MAX_STUB_BYTES)
		len = X86_DEFAULT_STUB_BYTES;
	while (code->len - code->pos >= len) {
		uint64_t pos = code->pos, slot;

		code->pos += len;
		if (!find_x86_slot(code->bytes + pos, (size_t)len, code->address + pos, &slot))
			continue;
		*ret_stub = (struct plt_stub){ code->address + pos, len, slot };
		return true;
	}
	return false;
}

/* Returns the instruction at an offset. Outside of the section, returns 0, which no stub
 * contains. */
static uint32_t arm64_insn(const struct plt_code *code, uint64_t pos)
{
	uint32_t insn;

	if (pos >= code->len || code->len - pos < sizeof(insn))
		return 0;
	memcpy(&insn, code->bytes + pos, sizeof(insn));
	return insn;
}

/* adrp x16, page; ldr x17, [x16, #place] */
static bool find_arm64_slot(const struct plt_code *code, uint64_t pos, uint64_t *ret_slot)
{
	uint32_t adrp = arm64_insn(code, pos), ldr = arm64_insn(code, pos + 4);
	uint64_t nr_pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	uint64_t page = (code->address + pos) & ~(uint64_t)(ARM64_PAGE_BYTES - 1);

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	if (nr_pages >> 20)
		nr_pages -= (uint64_t)1 << 21;
	*ret_slot = page + nr_pages * ARM64_PAGE_BYTES + (ldr >> 10 & 0xfff) * sizeof(uint64_t);
	return true;
}

static bool find_arm64_end(const struct plt_code *code, uint64_t pos, uint64_t *ret_end)
{
	for (uint64_t end = pos + 8; end < pos + ARM64_MAX_STUB_BYTES; end += 4) {
		if (arm64_insn(code, end) != ARM64_BR_X17)
			continue;
		*ret_end = end + 4;
		return true;
	}
	return false;
}

static bool find_arm64_stub(struct plt_code *code, struct plt_stub *ret_stub)
{
	for (uint64_t slot, end; code->pos < code->len; code->pos += 4) {
		uint64_t pos = code->pos;

		if (!find_arm64_slot(code, pos, &slot) || !find_arm64_end(code, pos, &end))
			continue;
		code->pos = end;
		if (pos >= 4 && arm64_insn(code, pos - 4) == ARM64_BTI_C)
			pos -= 4;
		*ret_stub = (struct plt_stub){ code->address + pos, end - pos, slot };
		return true;
	}
	return false;
}

plt_stub_finder *plt_stub_finder_for(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return find_x86_stub;
	case EM_AARCH64:
		return find_arm64_stub;
	default:
		return NULL;
	}
}

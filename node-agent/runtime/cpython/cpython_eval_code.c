/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of instructions are searched without decoding the others. A sequence that stands for
 * something else is unlikely in as few bytes; both results are used as hints. */
#include "runtime/cpython/cpython_eval_code.h"

#include "bpf/shared/cfi.h"

#include <string.h>

#define MAX_CODE_BYTES 4096
#define MAX_GETTER_BYTES 64

/* call [base + 8 * index] or call [8 * index + displacement]: ff 14 SIB, and with a displacement
 * ff 54, ff 94; the scale of the SIB byte is 3. */
static bool is_call_by_table(const uint8_t *code)
{
	return code[0] == 0xff && (code[1] == 0x14 || code[1] == 0x54 || code[1] == 0x94) &&
	       code[2] >> 6 == 3;
}

/* call register: ff d0 to ff d7 */
static bool is_call_by_register(const uint8_t *code)
{
	return code[0] == 0xff && code[1] >= 0xd0 && code[1] <= 0xd7;
}

int cpython_eval_code_has_tail_calls(const struct elf_exports *exports,
				     const struct elf_export *eval)
{
	uint8_t code[MAX_CODE_BYTES];

	if (CFI_IS_ARM64 || eval->size > sizeof(code))
		return 0;

	int r = elf_exports_read(exports, eval->address, code, (size_t)eval->size);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; i + 3 <= eval->size; i++)
		if (is_call_by_table(code + i) || is_call_by_register(code + i))
			return 1;
	return 0;
}

/* mov register, fs:displacement: 64 48 (or 4c) 8b, a ModRM byte with a SIB byte, 25 */
static bool is_load_of_thread_local(const uint8_t *code)
{
	return code[0] == 0x64 && (code[1] == 0x48 || code[1] == 0x4c) && code[2] == 0x8b &&
	       (code[3] & 0xc7) == 0x04 && code[4] == 0x25;
}

int cpython_eval_code_thread_local(const struct elf_exports *exports,
				   const struct elf_export *function, int32_t *ret_place)
{
	size_t len = function->size < MAX_GETTER_BYTES ? (size_t)function->size : MAX_GETTER_BYTES;
	uint8_t code[MAX_GETTER_BYTES] = { 0 };
	int32_t place;

	if (CFI_IS_ARM64)
		return -ENOENT;

	int r = elf_exports_read(exports, function->address, code, len);
	if (r < 0)
		return r;
	for (size_t i = 0; i + 5 + sizeof(place) <= len; i++) {
		memcpy(&place, code + i + 5, sizeof(place));
		if (is_load_of_thread_local(code + i) && place != 0) {
			*ret_place = place;
			return 0;
		}
	}
	return -ENOENT;
}

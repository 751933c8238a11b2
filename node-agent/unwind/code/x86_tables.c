/* SPDX-License-Identifier: Apache-2.0 */
/* Opcode maps: Intel SDM volume 2, appendix A.2 and A.3. 0 is an instruction of its opcode
 * alone. Prefixes and escapes have no entry: the decoder takes them before it looks here. */
#include "unwind/code/x86_decoder.h"

#include <stddef.h>

#define M X86_MODRM
#define SET_G (X86_MODRM | X86_SET_REG)
#define SET_E (X86_MODRM | X86_SET_RM)
#define SET_BOTH (X86_MODRM | X86_SET_REG | X86_SET_RM)
#define BYTE X86_BYTE

/* Eight rows of arithmetic are the same but for cmp, which changes nothing. */
#define ARITHMETIC(ROW)                                                                            \
	[(ROW)] = SET_E | BYTE, [(ROW) + 1] = SET_E, [(ROW) + 2] = SET_G | BYTE,                   \
	[(ROW) + 3] = SET_G, [(ROW) + 4] = X86_IMM8, [(ROW) + 5] = X86_IMM32,                      \
	[(ROW) + 6] = X86_BAD, [(ROW) + 7] = X86_BAD

static const uint16_t one_byte[256] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	[0x38 ... 0x3b] = M,
	[0x3c] = X86_IMM8,
	[0x3d] = X86_IMM32,
	[0x3e ... 0x3f] = X86_BAD,
	[0x58 ... 0x5f] = X86_SET_OPCODE,
	[0x60 ... 0x62] = X86_BAD,
	[0x63] = SET_G,
	[0x68] = X86_IMM32,
	[0x69] = SET_G | X86_IMM32,
	[0x6a] = X86_IMM8,
	[0x6b] = SET_G | X86_IMM8,
	[0x70 ... 0x7f] = X86_IMM8,
	[0x80] = SET_E | X86_IMM8 | BYTE,
	[0x81] = SET_E | X86_IMM32,
	[0x82] = X86_BAD,
	[0x83] = SET_E | X86_IMM8,
	[0x84 ... 0x85] = M,
	[0x86] = SET_BOTH | BYTE,
	[0x87] = SET_BOTH,
	[0x88] = SET_E | BYTE,
	[0x89] = SET_E,
	[0x8a] = SET_G | BYTE,
	[0x8b] = SET_G,
	[0x8c] = SET_E,
	[0x8d] = SET_G,
	[0x8e] = M,
	[0x8f] = SET_E,
	[0x91 ... 0x97] = X86_SET_OPCODE,
	[0x9a] = X86_BAD,
	[0xa0 ... 0xa3] = X86_OFFSET,
	[0xa8] = X86_IMM8,
	[0xa9] = X86_IMM32,
	[0xb0 ... 0xb7] = X86_IMM8 | X86_SET_OPCODE | BYTE,
	[0xb8 ... 0xbf] = X86_IMM64 | X86_SET_OPCODE,
	[0xc0] = SET_E | X86_IMM8 | BYTE,
	[0xc1] = SET_E | X86_IMM8,
	[0xc2] = X86_IMM16,
	[0xc4 ... 0xc5] = X86_BAD,
	[0xc6] = SET_E | X86_IMM8 | BYTE,
	[0xc7] = SET_E | X86_IMM32,
	[0xc8] = X86_IMM16 | X86_IMM8,
	[0xca] = X86_IMM16,
	[0xcd] = X86_IMM8,
	[0xce] = X86_BAD,
	[0xd0] = SET_E | BYTE,
	[0xd1] = SET_E,
	[0xd2] = SET_E | BYTE,
	[0xd3] = SET_E,
	[0xd4 ... 0xd6] = X86_BAD,
	[0xd8 ... 0xdf] = M,
	[0xe0 ... 0xe7] = X86_IMM8,
	[0xe8 ... 0xe9] = X86_REL32,
	[0xea] = X86_BAD,
	[0xeb] = X86_IMM8,
	[0xf6] = SET_E | BYTE,
	[0xf7] = SET_E,
	[0xfe] = SET_E | BYTE,
	[0xff] = SET_E,
};

static const uint16_t map_0f[256] = {
	[0x00 ... 0x01] = SET_E,
	[0x02 ... 0x03] = SET_G,
	[0x04] = X86_BAD,
	[0x0a] = X86_BAD,
	[0x0c] = X86_BAD,
	[0x0d] = M,
	[0x0f] = M | X86_IMM8,
	[0x10 ... 0x1f] = M,
	[0x20 ... 0x21] = SET_E | X86_NO_MEMORY,
	[0x22 ... 0x23] = M | X86_NO_MEMORY,
	[0x24 ... 0x27] = X86_BAD,
	[0x28 ... 0x2b] = M,
	[0x2c ... 0x2d] = SET_G,
	[0x2e ... 0x2f] = M,
	[0x36] = X86_BAD,
	[0x38 ... 0x3f] = X86_BAD,
	[0x40 ... 0x50] = SET_G,
	[0x51 ... 0x6f] = M,
	[0x70 ... 0x73] = M | X86_IMM8,
	[0x74 ... 0x76] = M,
	[0x78] = SET_E,
	[0x79] = M,
	[0x7a ... 0x7b] = X86_BAD,
	[0x7c ... 0x7d] = M,
	[0x7e] = SET_E,
	[0x7f] = M,
	[0x80 ... 0x8f] = X86_REL32,
	[0x90 ... 0x9f] = SET_E | BYTE,
	[0xa2] = X86_SET_RBX,
	[0xa3] = M,
	[0xa4] = SET_E | X86_IMM8,
	[0xa5] = SET_E,
	[0xa6 ... 0xa7] = X86_BAD,
	[0xab] = SET_E,
	[0xac] = SET_E | X86_IMM8,
	[0xad ... 0xae] = SET_E,
	[0xaf] = SET_G,
	[0xb0] = SET_E | BYTE,
	[0xb1] = SET_E,
	[0xb2] = SET_G,
	[0xb3] = SET_E,
	[0xb4 ... 0xb8] = SET_G,
	[0xb9] = M,
	[0xba] = SET_E | X86_IMM8,
	[0xbb] = SET_E,
	[0xbc ... 0xbf] = SET_G,
	[0xc0] = SET_BOTH | BYTE,
	[0xc1] = SET_BOTH,
	[0xc2] = M | X86_IMM8,
	[0xc3] = M,
	[0xc4] = M | X86_IMM8,
	[0xc5] = SET_G | X86_IMM8,
	[0xc6] = M | X86_IMM8,
	[0xc7] = SET_E,
	[0xc8 ... 0xcf] = X86_SET_OPCODE,
	[0xd0 ... 0xd6] = M,
	[0xd7] = SET_G,
	[0xd8 ... 0xff] = M,
};

static const uint16_t map_0f38[256] = {
	[0x00 ... 0xef] = M, [0xf0 ... 0xf1] = SET_G, [0xf2 ... 0xf5] = M,
	[0xf6] = SET_G,	     [0xf7 ... 0xff] = M,
};

static const uint16_t map_0f3a[256] = {
	[0x00 ... 0x13] = M | X86_IMM8,
	[0x14 ... 0x17] = SET_E | X86_IMM8,
	[0x18 ... 0xff] = M | X86_IMM8,
};

/* Vector instructions, and few on general registers. */
static const uint16_t vex_0f[256] = {
	[0x00 ... 0x2b] = M,
	[0x2c ... 0x2d] = SET_G,
	[0x2e ... 0x4f] = M,
	[0x50] = SET_G,
	[0x51 ... 0x6f] = M,
	[0x70 ... 0x73] = M | X86_IMM8,
	[0x74 ... 0x76] = M,
	[0x78 ... 0x79] = SET_G,
	[0x7a ... 0x7d] = M,
	[0x7e] = SET_E,
	[0x7f ... 0x92] = M,
	[0x93] = SET_G,
	[0x94 ... 0xc1] = M,
	[0xc2] = M | X86_IMM8,
	[0xc3] = M,
	[0xc4] = M | X86_IMM8,
	[0xc5] = SET_G | X86_IMM8,
	[0xc6] = M | X86_IMM8,
	[0xc7 ... 0xd6] = M,
	[0xd7] = SET_G,
	[0xd8 ... 0xff] = M,
};

static const uint16_t vex_0f38[256] = {
	[0x00 ... 0xf1] = M, [0xf2] = SET_G,	  [0xf3] = M | X86_SET_VVVV,
	[0xf4] = M,	     [0xf5] = SET_G,	  [0xf6] = SET_G | X86_SET_VVVV,
	[0xf7] = SET_G,	     [0xf8 ... 0xff] = M,
};

static const uint16_t vex_0f3a[256] = {
	[0x00 ... 0x13] = M | X86_IMM8, [0x14 ... 0x17] = SET_E | X86_IMM8,
	[0x18 ... 0xef] = M | X86_IMM8, [0xf0] = SET_G | X86_IMM8,
	[0xf1 ... 0xff] = M | X86_IMM8,
};

const uint16_t *const x86_legacy_flags[4] = { one_byte, map_0f, map_0f38, map_0f3a };
const uint16_t *const x86_vex_flags[4] = { NULL, vex_0f, vex_0f38, vex_0f3a };

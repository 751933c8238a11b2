/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/htlhash.h"

#include "unit.h"

#include <elf.h>
#include <string.h>

#define MAX_BYTES 100000

static void make_image(uint8_t *bytes)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
	};

	for (size_t i = 0; i < MAX_BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(bytes, &header, sizeof(header));
}

/* By Python's hashlib. */
static void the_hash_is_what_others_compute(void **state)
{
	static const struct {
		size_t len;
		const char *hash;
	} cases[] = {
		{ 64, "7fe5a3ff13fac852ceec32914637b778" },
		{ 4095, "e2f9b2d16c86e56a8f01cb2ec3d6e339" },
		{ 4096, "f8d3796b3ccddac967bd5a7f90635bdf" },
		{ 4097, "79708bfd2a67e9d5a1f7f5335fa14777" },
		{ 8192, "aba42f9dd82a118c24fd8264464e9c50" },
		{ 100000, "c2677492b0f371a62b40698b32e14429" },
	};
	static _Alignas(8) uint8_t bytes[MAX_BYTES];
	(void)state;

	make_image(bytes);
	for (size_t i = 0; i < array_len(cases); i++) {
		struct elf_reader reader;
		struct htlhash_input input;
		char hex[HTLHASH_DIGITS + 1];

		assert_int_equal(elf_reader_init_bytes(&reader, bytes, cases[i].len), 0);
		assert_int_equal(htlhash_read(&reader, &input), 0);
		htlhash_of(&input, hex);
		assert_string_equal(hex, cases[i].hash);
		elf_reader_done(&reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hash_is_what_others_compute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

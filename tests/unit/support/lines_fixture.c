/* SPDX-License-Identifier: Apache-2.0 */
#include "lines_fixture.h"

#include <stdio.h>

const struct fixture_file lines_fixture_file = {
	.function = "by_symbol",
	.has_debug_info = true,
	.lines = INVENTS,
};

uint32_t lines_fixture_add(struct elf_cache_fixture *fixture, unsigned int number,
			   uint64_t nr_offsets)
{
	struct fixture_file file = lines_fixture_file;
	char path[32];

	file.number = number;
	snprintf(path, sizeof(path), "bin/a%u", number);
	uint32_t id = add_file(fixture, IN_ONE, path, &file);
	read_all(fixture);
	for (uint64_t i = 0; i < nr_offsets; i++)
		(void)elf_cache_ask(fixture->cache, id, LINES_FIXTURE_OFFSET + i);
	read_all(fixture);
	return id;
}

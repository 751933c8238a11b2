/* SPDX-License-Identifier: Apache-2.0 */
/* Files with inlined functions and source lines, for tests of an ELF cache. */
#ifndef TESTS_UNIT_LINES_FIXTURE_H
#define TESTS_UNIT_LINES_FIXTURE_H

#include "elf_cache_fixture.h"

#include <stdint.h>

#define LINES_FIXTURE_OFFSET (FUNCTION_OFFSET + 0x10)

/* The worker invents two lines for each offset of it. */
extern const struct fixture_file lines_fixture_file;

/* Adds bin/aNUMBER in a container, and has its names read. Then has the lines of `nr_offsets`
 * offsets read, from LINES_FIXTURE_OFFSET on. Returns the id of the file. */
uint32_t lines_fixture_add(struct elf_cache_fixture *fixture, unsigned int number,
			   uint64_t nr_offsets);

#endif

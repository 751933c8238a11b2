/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF cache on a machine made for the test: a directory like /proc with processes on the host
 * and in two containers, and the root directories of all three. Its worker is the test program,
 * which does as the file says that it is to read. So main() begins with
 *
 *	if (is_symbol_worker(argc, argv))
 *		return elf_cache_fixture_worker(); */
#ifndef TESTS_UNIT_ELF_CACHE_FIXTURE_H
#define TESTS_UNIT_ELF_CACHE_FIXTURE_H

#include "base/clock.h"
#include "elf_maker.h"
#include "symbol/elf_cache.h"
#include "symbol_worker_main.h"

#include <stdbool.h>
#include <stdint.h>

#define FIXTURE_WAIT_NS (60 * NSEC_PER_SEC)
#define FIXTURE_BUDGET ((size_t)64 << 20)
#define FIXTURE_PATH_BYTES 192

/* Offset in each file of its function, and the length of that. */
#define FUNCTION_OFFSET MAKER_TEXT_OFFSET
#define FUNCTION_BYTES 0x800

#define FIXTURE_BUILD_ID "00112233445566778899aabbccddeeff00112233"
#define FIXTURE_DEBUG_PATH "usr/lib/debug/.build-id/00/112233445566778899aabbccddeeff00112233.debug"

/* Also the numbers of processes. */
enum fixture_root {
	ON_HOST = 1,
	IN_ONE,
	IN_OTHER,
};

/* What the worker does on a request for a file. */
enum fixture_fate {
	ANSWERS,
	DIES,
	HANGS,
	FAILS, /* with -EIO */
	TALKS_NONSENSE,
	INVENTS, /* lines: INNER at the address as line number, in OUTER */
	IS_SLOW, /* by FIXTURE_SLOW_NS */
	NEEDS_TIME, /* more than the fast lane has */
};

#define FIXTURE_SLOW_NS (300 * NSEC_PER_MSEC)
#define FIXTURE_INNER "_ZN3src5innerEv"
#define FIXTURE_OUTER "_ZN3src5outerEv"

/* The worker dies, or talks nonsense, when the first one of names to demangle is this. */
#define FIXTURE_DYING_NAME "_ZN3bad4diesEv"
#define FIXTURE_NONSENSE_NAME "_ZN3bad8nonsenseEv"

struct fixture_file {
	const char *function; /* in .symtab; NULL: there is none */
	const char *exported; /* in .dynsym; NULL: there is none */
	const char *build_id; /* 40 digits; NULL: none */
	const char *link_name; /* .gnu_debuglink; NULL: none */
	const char *alt_link; /* .gnu_debugaltlink: a build id as above; NULL: none */
	uint32_t link_crc;
	bool has_debug_info; /* not real */
	const void *extra; /* .gnu_debugdata; NULL: none */
	size_t extra_len;
	enum fixture_fate table, crc, lines, fingerprint; /* when asked for these */
	unsigned int number; /* makes files differ */
	uint32_t debug_number; /* makes their debug information differ, and nothing else */
};

struct elf_cache_fixture {
	char dir[64];
	int proc_fd;
	int host_fd;
	struct elf_cache_opts opts; /* for elf_cache_fixture_start() */
	struct elf_cache *cache; /* NULL before */
};

int elf_cache_fixture_set_up(void **state);
int elf_cache_fixture_tear_down(void **state);
int elf_cache_fixture_worker(void);

/* Makes the cache anew. */
void elf_cache_fixture_start(struct elf_cache_fixture *fixture);

/* Makes a file, and the directories above it; paths are relative to the root. Returns its CRC. */
uint32_t make_file(const struct elf_cache_fixture *fixture, enum fixture_root root,
		   const char *path, const struct fixture_file *file);

/* A file of these bytes. */
void write_file(const struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		const void *bytes, size_t len);

/* Returns this process's path of a file. */
void path_in(const struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
	     char ret_path[static FIXTURE_PATH_BYTES]);

/* Opens it as a file that a process with that root has mapped. */
int open_mapped(struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		uint32_t *ret_id);

/* make_file() and open_mapped(). Returns the id. */
uint32_t add_file(struct elf_cache_fixture *fixture, enum fixture_root root, const char *path,
		  const struct fixture_file *file);

/* Waits until there is nothing to be done. */
void read_all(const struct elf_cache_fixture *fixture);

/* Names an offset with all that can be known. As elf_cache_symbolize(). */
int name_fully(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset,
	       struct symbol_frames *ret_frames);

/* The name of the function that is outermost at an offset, "" when there is none. */
const char *outer_name(const struct elf_cache_fixture *fixture, uint32_t id, uint64_t offset);

struct elf_cache_stats stats_of(const struct elf_cache_fixture *fixture);

/* Of this process, now. */
size_t count_descriptors(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A JIT cache over a directory like /proc, and processes with a JIT compiler's list in it. */
#ifndef TESTS_UNIT_JIT_CACHE_FIXTURE_H
#define TESTS_UNIT_JIT_CACHE_FIXTURE_H

#include "proc_fixture.h"
#include "symbol/jit/jit_cache.h"

#include <stddef.h>
#include <stdint.h>

#define JIT_CACHE_FIXTURE_MAX_BYTES ((size_t)64 << 20)

struct jit_cache_fixture {
	struct proc_fixture proc;
	struct jit_cache *cache; /* owned */
};

/* For cmocka: *state becomes a fixture whose cache has JIT_CACHE_FIXTURE_MAX_BYTES. */
int jit_cache_fixture_setup(void **state);
int jit_cache_fixture_teardown(void **state);

/* Makes another cache over the same directory, whose worker is that program (NULL: the test
 * itself). */
struct jit_cache *jit_cache_fixture_new_cache(const struct jit_cache_fixture *fixture,
					      size_t max_bytes, const char *worker_program);

/* Writes PID/name, and replaces its content. */
void jit_cache_fixture_write(const struct jit_cache_fixture *fixture, uint32_t pid,
			     const char *name, const char *text);

/* Makes a process whose own pid is 7 and whose root has a /tmp, with a perf map unless `map` is
 * NULL. */
void jit_cache_fixture_put(const struct jit_cache_fixture *fixture, uint32_t pid, const char *map);

#endif

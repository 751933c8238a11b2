/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_dir.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "remove_tree.h"
#include "unit.h"

#define WAIT_NS (60 * NSEC_PER_SEC)

struct elf_cache *cache_dir_new_pooled_cache(int proc_fd, size_t max_bytes,
					     struct memory_pool *pool)
{
	const struct elf_cache_opts opts = {
		.proc_fd = proc_fd,
		.max_bytes = max_bytes,
		.pool = pool,
		.demangle = DEMANGLE_SHORT,
		.debug_files = { .host_root_fd = -EBADF },
	};
	struct elf_cache *cache = NULL;

	assert_int_equal(elf_cache_new(&opts, &cache), 0);
	return cache;
}

struct elf_cache *cache_dir_new_cache(int proc_fd, size_t max_bytes)
{
	return cache_dir_new_pooled_cache(proc_fd, max_bytes, NULL);
}

void cache_dir_read_all(struct elf_cache *cache)
{
	assert_true(elf_cache_wait(cache, clock_mono_ns() + WAIT_NS));
}

int cache_dir_setup(void **state)
{
	struct cache_dir *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/test_elf_cache.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fixture->cache = cache_dir_new_cache(fixture->proc_fd, CACHE_BUDGET);
	*state = fixture;
	return 0;
}

int cache_dir_teardown(void **state)
{
	struct cache_dir *fixture = *state;

	elf_cache_free(fixture->cache);
	close(fixture->proc_fd);
	remove_tree(fixture->dir);
	free(fixture);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_standin.h"

#include "unwind/elf_rows.h"
#include "unwind/row_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define VDSO_BYTES 4096

struct elf_rows {
	struct plan plan;
	struct elf_rows_key key;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool has_vdso;
	bool is_shut;
	bool is_inside;
	uint64_t order[MAX_ORDER];
	size_t nr_read;
	size_t nr_built;
	size_t nr_cached;
	struct plan cached;
} standin = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

void rows_standin_reset(void)
{
	pthread_mutex_lock(&standin.lock);
	standin.has_vdso = true;
	standin.is_shut = false;
	standin.nr_read = 0;
	standin.nr_built = 0;
	standin.nr_cached = 0;
	standin.cached = (struct plan){ 0 };
	pthread_mutex_unlock(&standin.lock);
}

int rows_standin_file(const struct plan *plan)
{
	int fd = memfd_create("plan", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, plan, sizeof(*plan)), sizeof(*plan));
	return fd;
}

void rows_standin_set_vdso(bool has_vdso)
{
	standin.has_vdso = has_vdso;
}

void rows_standin_shut(bool is_shut)
{
	pthread_mutex_lock(&standin.lock);
	standin.is_shut = is_shut;
	pthread_cond_broadcast(&standin.changed);
	pthread_mutex_unlock(&standin.lock);
}

void rows_standin_wait_until_inside(void)
{
	pthread_mutex_lock(&standin.lock);
	while (!standin.is_inside)
		pthread_cond_wait(&standin.changed, &standin.lock);
	pthread_mutex_unlock(&standin.lock);
}

size_t rows_standin_order(uint64_t ret_keys[static MAX_ORDER])
{
	pthread_mutex_lock(&standin.lock);
	size_t nr_read = standin.nr_read;
	memcpy(ret_keys, standin.order, nr_read * sizeof(*ret_keys));
	pthread_mutex_unlock(&standin.lock);
	return nr_read;
}

size_t rows_standin_nr_built(void)
{
	return __atomic_load_n(&standin.nr_built, __ATOMIC_RELAXED);
}

void rows_standin_cache(const struct plan *plan)
{
	standin.cached = *plan;
}

size_t rows_standin_nr_cached(void)
{
	return __atomic_load_n(&standin.nr_cached, __ATOMIC_RELAXED);
}

uint8_t rows_standin_byte(uint64_t key, size_t at)
{
	return (uint8_t)(key * 17 + at * 3 + at / 255);
}

static void go_through_the_door(uint64_t key)
{
	pthread_mutex_lock(&standin.lock);
	if (standin.nr_read < MAX_ORDER)
		standin.order[standin.nr_read++] = key;
	standin.is_inside = true;
	pthread_cond_broadcast(&standin.changed);
	while (standin.is_shut)
		pthread_cond_wait(&standin.changed, &standin.lock);
	standin.is_inside = false;
	pthread_mutex_unlock(&standin.lock);
}

int elf_rows_open(int fd, const struct elf_rows_opts *opts, struct elf_rows **ret_rows)
{
	struct plan plan;

	assert_true(opts->max_bytes > 0);
	if (pread(fd, &plan, sizeof(plan), 0) != sizeof(plan))
		return -EBADMSG;
	go_through_the_door(plan.key);
	if (plan.open_error)
		return plan.open_error;
	struct elf_rows *rows = calloc(1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	*rows = (struct elf_rows){ .plan = plan, .key = { .hash = { plan.key } } };
	*ret_rows = rows;
	return 0;
}

void elf_rows_close(struct elf_rows *rows)
{
	free(rows);
}

const struct elf_rows_key *elf_rows_get_key(const struct elf_rows *rows)
{
	return &rows->key;
}

static int make_table(const struct plan *plan, struct row_table_bytes *ret_table)
{
	struct row_table head = { .nr_rows = 10, .bytes = plan->nr_bytes };
	uint8_t *data = calloc(plan->nr_bytes, 1);

	if (!data)
		return -ENOMEM;
	for (size_t i = 0; i < plan->nr_bytes; i++)
		data[i] = rows_standin_byte(plan->key, i);
	memcpy(data, &head, sizeof(head));
	*ret_table = (struct row_table_bytes){ data, plan->nr_bytes };
	return 0;
}

int elf_rows_build(struct elf_rows *rows, struct row_table_bytes *ret_table,
		   struct elf_rows_stats *ret_stats)
{
	if (rows->plan.build_error)
		return rows->plan.build_error;
	__atomic_fetch_add(&standin.nr_built, 1, __ATOMIC_RELAXED);
	*ret_stats = (struct elf_rows_stats){
		.losses = { .nr_bad_entries = 2, .nr_unsupported_rules = 3 },
	};
	return make_table(&rows->plan, ret_table);
}

int elf_rows_open_vdso(int *ret_fd)
{
	if (!standin.has_vdso)
		return -ENOENT;
	*ret_fd = rows_standin_file(&(struct plan){ .key = VDSO_KEY, .nr_bytes = VDSO_BYTES });
	return 0;
}

int row_cache_get(struct row_cache *cache, const struct elf_rows_key *key,
		  struct row_table_bytes *ret_table)
{
	(void)cache;

	if (standin.cached.key != key->hash[0])
		return -ENOENT;
	return make_table(&standin.cached, ret_table);
}

void row_cache_put(struct row_cache *cache, const struct elf_rows_key *key,
		   const struct row_table_bytes *table)
{
	(void)cache;
	(void)key;

	assert_true(table->len > 0);
	__atomic_fetch_add(&standin.nr_cached, 1, __ATOMIC_RELAXED);
}

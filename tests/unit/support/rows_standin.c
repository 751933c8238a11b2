/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_standin.h"

#include "unwind/file/elf_rows.h"
#include "unwind/file/row_cache.h"
#include "unwind/worker/rows_client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#define VDSO_BYTES 4096

/* Of each lane: the file in it. */
struct rows_client {
	struct plan plans[WORKER_NR_LANES];
	bool is_busy[WORKER_NR_LANES];
	bool is_damaged[WORKER_NR_LANES];
	bool has_told_key[WORKER_NR_LANES];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool has_vdso;
	bool is_shut[WORKER_NR_LANES];
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
	memset(standin.is_shut, 0, sizeof(standin.is_shut));
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

static void shut(size_t lane, bool is_shut)
{
	pthread_mutex_lock(&standin.lock);
	standin.is_shut[lane] = is_shut;
	pthread_mutex_unlock(&standin.lock);
}

void rows_standin_shut(bool is_shut)
{
	shut(WORKER_LANE_FAST, is_shut);
	shut(WORKER_LANE_SLOW, is_shut);
}

void rows_standin_shut_slow_lane(bool is_shut)
{
	shut(WORKER_LANE_SLOW, is_shut);
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

static bool is_shut(size_t lane)
{
	pthread_mutex_lock(&standin.lock);
	bool is_shut = standin.is_shut[lane];
	pthread_mutex_unlock(&standin.lock);
	return is_shut;
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

int rows_client_new(const struct rows_client_opts *opts, struct rows_client **ret_client)
{
	assert_true(opts->max_table_bytes > 0);
	*ret_client = calloc(1, sizeof(**ret_client));
	return *ret_client ? 0 : -ENOMEM;
}

void rows_client_free(struct rows_client *client)
{
	free(client);
}

enum worker_lane rows_client_choose(const struct rows_client *client, uint64_t owner)
{
	(void)client;
	return owner == SLOW_OWNER ? WORKER_LANE_SLOW : WORKER_LANE_FAST;
}

enum worker_rank rows_client_rank(const struct rows_client *client, uint64_t owner)
{
	(void)client;
	(void)owner;
	return WORKER_RANK_FIRST;
}

bool rows_client_is_busy(const struct rows_client *client, enum worker_lane lane)
{
	return client->is_busy[lane];
}

void rows_client_begin(struct rows_client *client, enum worker_lane lane, int fd, uint64_t owner)
{
	struct plan *plan = &client->plans[lane];

	assert_false(client->is_busy[lane]);
	client->is_busy[lane] = true;
	client->has_told_key[lane] = false;
	client->is_damaged[lane] = pread(fd, plan, sizeof(*plan), 0) != sizeof(*plan);
	if (client->is_damaged[lane])
		return;
	assert_int_equal(plan->owner, owner);
	pthread_mutex_lock(&standin.lock);
	if (standin.nr_read < MAX_ORDER)
		standin.order[standin.nr_read++] = plan->key;
	standin.is_inside = true;
	pthread_cond_broadcast(&standin.changed);
	pthread_mutex_unlock(&standin.lock);
}

static int find_error(const struct rows_client *client, enum worker_lane lane)
{
	const struct plan *plan = &client->plans[lane];

	if (client->is_damaged[lane])
		return -EBADMSG;
	if (plan->is_too_slow && lane == WORKER_LANE_FAST)
		return -ETIMEDOUT;
	return client->has_told_key[lane] ? plan->build_error : plan->open_error;
}

bool rows_client_take(struct rows_client *client, enum worker_lane lane,
		      struct rows_result *ret_result)
{
	const struct plan *plan = &client->plans[lane];

	if (is_shut(lane))
		return false;
	*ret_result = (struct rows_result){ .error = find_error(client, lane) };
	ret_result->is_for_slow_lane = ret_result->error == -ETIMEDOUT && lane == WORKER_LANE_FAST;
	if (ret_result->error)
		return true;
	ret_result->key = (struct elf_rows_key){ .hash = { plan->key } };
	ret_result->has_table = client->has_told_key[lane];
	client->has_told_key[lane] = true;
	if (!ret_result->has_table)
		return true;
	__atomic_fetch_add(&standin.nr_built, 1, __ATOMIC_RELAXED);
	ret_result->losses = (struct unwind_losses){ 2, 3 };
	ret_result->error = make_table(plan, &ret_result->table);
	return true;
}

void rows_client_build(struct rows_client *client, enum worker_lane lane)
{
	assert_true(client->has_told_key[lane]);
}

void rows_client_end(struct rows_client *client, enum worker_lane lane)
{
	client->is_busy[lane] = false;
	pthread_mutex_lock(&standin.lock);
	standin.is_inside = false;
	pthread_mutex_unlock(&standin.lock);
}

void rows_client_wait(const struct rows_client *client, int wake_fd, uint64_t until_ns)
{
	(void)wake_fd, (void)until_ns;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		if (client->is_busy[lane] && !is_shut(lane))
			return;
	usleep(1000);
}

void rows_client_tidy(struct rows_client *client)
{
	(void)client;
}

struct worker_stats rows_client_get_stats(const struct rows_client *client)
{
	(void)client;
	return (struct worker_stats){ 0 };
}

int elf_rows_open_vdso(int *ret_fd)
{
	if (!standin.has_vdso)
		return -ENOENT;
	*ret_fd = rows_standin_file(&(struct plan){ .key = VDSO_KEY, .nr_bytes = VDSO_BYTES });
	return 0;
}

int row_cache_open(const char *path, const struct row_cache_kind *kind, uint64_t max_bytes,
		   struct strbuf *reterr_msg, struct row_cache **ret_cache)
{
	(void)path, (void)kind, (void)max_bytes, (void)reterr_msg, (void)ret_cache;
	return -ENOENT;
}

void row_cache_close(struct row_cache *cache)
{
	(void)cache;
}

uint64_t row_cache_get_seed(const struct row_cache *cache)
{
	(void)cache;
	return 0;
}

struct row_cache_stats row_cache_get_stats(const struct row_cache *cache)
{
	(void)cache;
	return (struct row_cache_stats){ 0 };
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

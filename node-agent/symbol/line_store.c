/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/line_store.h"

#include "base/clock.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/strbuf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_MAX_BYTES (UINT64_C(128) << 20)
#define MESSAGE_MAX_BYTES 8192
#define SAVE_AFTER_NS (5 * NSEC_PER_SEC)

struct line_store {
	size_t max_table_bytes;
	struct row_cache *disk; /* owned; or NULL */

	pthread_mutex_t lock;
	struct line_store_stats stats;
};

static const struct row_cache_kind line_tables = {
	.suffix = ".lines",
	.magic = UINT64_C(0x534e494c4c454c46), /* "FLELLINS" */
	.version = 1,
	.is_valid = lines_table_is_valid,
};

static void open_disk(struct line_store *store, const char *cache_dir)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf dir = strbuf_with_max(PATH_MAX);

	strbuf_appendf(&dir, "%s/lines", cache_dir);
	if (row_cache_open(strbuf_str(&dir), &line_tables, CACHE_MAX_BYTES, &message,
			   &store->disk) < 0)
		log_warn("--unwind-cache: %s; not used: source lines will be read after each start",
			 strbuf_str(&message));
}

int line_store_new(const char *cache_dir, size_t max_table_bytes, struct line_store **ret_store)
{
	struct line_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	store->max_table_bytes = max_table_bytes;
	pthread_mutex_init(&store->lock, NULL);
	if (cache_dir)
		open_disk(store, cache_dir);
	*ret_store = store;
	return 0;
}

void line_store_free(struct line_store *store)
{
	if (!store)
		return;
	row_cache_close(store->disk);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

bool line_store_get_seed(const struct line_store *store, uint64_t *ret_seed)
{
	if (!store->disk)
		return false;
	*ret_seed = row_cache_get_seed(store->disk);
	return true;
}

static struct elf_rows_key key_of(const struct elf_fingerprint *print)
{
	struct elf_rows_key key = { .hash = { print->hash[0], print->hash[1] } };

	memcpy(key.build_id, print->build_id, sizeof(key.build_id) - 1);
	return key;
}

static bool is_equal(const struct elf_rows_key *a, const struct elf_rows_key *b)
{
	return strcmp(a->build_id, b->build_id) == 0 && a->hash[0] == b->hash[0] &&
	       a->hash[1] == b->hash[1];
}

void line_store_ask_key(struct name_table *table)
{
	table->lines_state = LINES_NEW;
}

void line_store_set_key(struct line_store *store, struct name_table *table,
			const struct elf_fingerprint *print)
{
	struct elf_rows_key key = { 0 };

	if (print)
		key = key_of(print);
	if (!print || !table->has_lines_key || !is_equal(&key, &table->lines_key)) {
		line_store_save(store, table);
		name_table_drop_lines(table);
	}
	table->has_lines_key = print != NULL;
	table->lines_key = key;
	table->lines_state = table->lines.nr_bytes > 0 ? LINES_READY : LINES_KEYED;
}

static void count_disk(struct line_store *store)
{
	LOCKED(&store->lock);
	store->stats.disk = row_cache_get_stats(store->disk);
}

static int read_table(struct line_store *store, struct name_table *table)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes bytes = { 0 };
	struct lines_added added;

	int r = row_cache_get(store->disk, &table->lines_key, &bytes);
	count_disk(store);
	if (r < 0)
		return r;
	if (bytes.len > line_store_room(store, table))
		return -ENOSPC;
	return lines_table_add(&table->lines, bytes.data, bytes.len, &added);
}

void line_store_load(struct line_store *store, struct name_table *table)
{
	if (table->lines_state != LINES_KEYED)
		return;
	table->lines_state = LINES_READY;
	if (!store->disk || !table->has_lines_key)
		return;

	int r = read_table(store, table);
	(void)r; /* lines that are not on disk are read from the file */
}

void line_store_save(struct line_store *store, struct name_table *table)
{
	const struct row_table_bytes bytes = {
		.data = (uint8_t *)table->lines.bytes,
		.len = table->lines.nr_bytes,
	};

	if (table->unsaved_since_ns == 0)
		return;
	table->unsaved_since_ns = 0;
	if (!store->disk || !table->has_lines_key)
		return;
	row_cache_put(store->disk, &table->lines_key, &bytes);
	count_disk(store);
}

void line_store_save_settled(struct line_store *store, struct name_table *table)
{
	if (table->unsaved_since_ns != 0 &&
	    clock_mono_ns() - table->unsaved_since_ns >= SAVE_AFTER_NS)
		line_store_save(store, table);
}

int line_store_add(struct line_store *store, struct name_table *table, const void *bytes,
		   size_t len)
{
	struct lines_added added;

	int r = lines_table_add(&table->lines, bytes, len, &added);
	if (r < 0)
		return r;
	if (table->unsaved_since_ns == 0 && len > 0)
		table->unsaved_since_ns = clock_mono_ns();

	LOCKED(&store->lock);
	store->stats.nr_units += added.nr_units;
	store->stats.nr_units_left_out += added.nr_left_out;
	return 0;
}

size_t line_store_room(const struct line_store *store, const struct name_table *table)
{
	size_t max_bytes = store->max_table_bytes;

	return table->lines.nr_bytes < max_bytes ? max_bytes - table->lines.nr_bytes : 0;
}

void line_store_count(struct line_store *store, uint64_t nr_resolved, uint64_t nr_missed)
{
	LOCKED(&store->lock);
	store->stats.nr_resolved += nr_resolved;
	store->stats.nr_missed += nr_missed;
}

struct line_store_stats line_store_get_stats(struct line_store *store)
{
	LOCKED(&store->lock);

	return store->stats;
}

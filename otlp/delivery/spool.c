/* SPDX-License-Identifier: Apache-2.0 */
/* A list of entries in the order of their numbers. An entry holds its compressed body, or none:
 * then the body is in the file of its number. Bodies are read from files when they are asked for
 * and not kept, so an outage costs the memory of the entries, and of bodies no more than
 * max_memory_bytes.
 *
 * Numbers begin at the time of the start, in nanoseconds, and above all that are in the directory,
 * so that none is used twice even when the queue was empty at the restart or the clock went back.
 *
 * Statistics are written by the owner alone and read by anybody, each on its own: relaxed
 * atomics. */
#include "otlp/delivery/spool.h"

#include "base/clock.h"
#include "base/zstd.h"
#include "otlp/delivery/spool_dir.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

/* Maximum growth of a body by compression. */
#define PACK_OVERHEAD_BYTES (SPOOL_BODY_MAX_BYTES / 128)

struct entry {
	TAILQ_ENTRY(entry) link;
	uint64_t seq;
	struct spool_file file;
	char *packed; /* owned; NULL: in the file */
};

struct spool {
	int dir_fd; /* owned; negative: memory only */
	uint64_t max_bytes, max_memory_bytes;
	uint32_t format;
	bool is_unsynced; /* files were written since the directory was synced */
	uint64_t next_seq;
	TAILQ_HEAD(, entry) entries; /* owned */
	struct spool_stats stats;
};

static void add(uint64_t *counter, uint64_t nr)
{
	__atomic_add_fetch(counter, nr, __ATOMIC_RELAXED);
}

static void subtract(uint64_t *counter, uint64_t nr)
{
	__atomic_sub_fetch(counter, nr, __ATOMIC_RELAXED);
}

static uint64_t file_bytes(const struct spool_file *file)
{
	return SPOOL_FILE_HEAD_BYTES + file->packed_bytes;
}

/* Returns the gauge that counts an entry's bytes. */
static uint64_t *bytes_gauge(struct spool *spool, const struct entry *entry)
{
	return entry->packed ? &spool->stats.nr_memory_bytes : &spool->stats.nr_disk_bytes;
}

static void insert(struct spool *spool, struct entry *entry)
{
	TAILQ_INSERT_TAIL(&spool->entries, entry, link);
	add(&spool->stats.nr_requests, 1);
	add(&spool->stats.nr_samples, entry->file.item.nr_samples);
	add(bytes_gauge(spool, entry), file_bytes(&entry->file));
}

static void free_entry(struct entry *entry)
{
	if (!entry)
		return;
	free(entry->packed);
	free(entry);
}
DEFINE_FREEP(struct entry, free_entry)

/* Removes an entry from memory or disk. */
static void drop(struct spool *spool, struct entry *entry)
{
	TAILQ_REMOVE(&spool->entries, entry, link);
	subtract(&spool->stats.nr_requests, 1);
	subtract(&spool->stats.nr_samples, entry->file.item.nr_samples);
	subtract(bytes_gauge(spool, entry), file_bytes(&entry->file));
	if (!entry->packed)
		spool_file_remove(spool->dir_fd, entry->seq);
	free_entry(entry);
}

static void count_damaged(struct spool *spool, uint64_t nr_samples)
{
	add(&spool->stats.nr_samples_damaged, nr_samples);
	add(&spool->stats.nr_files_damaged, 1);
}

static void evict(struct spool *spool, struct entry *entry)
{
	add(&spool->stats.nr_samples_evicted, entry->file.item.nr_samples);
	drop(spool, entry);
}

/* Evicts the oldest entries until there is room for that many bytes. Errors: -ENOSPC they exceed
 * the limit alone. */
static int make_room(struct spool *spool, uint64_t bytes)
{
	const struct spool_stats *stats = &spool->stats;

	if (bytes > spool->max_bytes)
		return -ENOSPC;
	while (stats->nr_requests >= SPOOL_MAX_REQUESTS ||
	       stats->nr_disk_bytes + stats->nr_memory_bytes > spool->max_bytes - bytes)
		evict(spool, TAILQ_FIRST(&spool->entries));
	return 0;
}

static int restore_request(struct spool *spool, uint64_t seq, const struct spool_file *file)
{
	struct entry *entry;

	if (make_room(spool, file_bytes(file)) < 0) {
		add(&spool->stats.nr_samples_evicted, file->item.nr_samples);
		spool_file_remove(spool->dir_fd, seq);
		return 0;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	entry->seq = seq;
	entry->file = *file;
	insert(spool, entry);
	return 0;
}

/* A file that cannot be read counts as damaged. It is removed if its content is the cause. */
static int restore_file(struct spool *spool, uint64_t seq)
{
	struct spool_file file = { 0 };
	bool is_whole = false;
	int r = spool_file_read_head(spool->dir_fd, seq, &file, &is_whole);

	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT || (r == 0 && file.format != spool->format))
		return 0;
	add(&spool->stats.nr_samples_restored, file.item.nr_samples);
	if (is_whole)
		return restore_request(spool, seq, &file);
	count_damaged(spool, file.item.nr_samples);
	if (r == 0 || r == -EBADMSG)
		spool_file_remove(spool->dir_fd, seq);
	return 0;
}

static int restore(struct spool *spool)
{
	_cleanup_(spool_dir_list_done) struct spool_dir_list list = { 0 };
	int r = spool_dir_list(spool->dir_fd, &list);

	for (size_t i = 0; r == 0 && i < list.nr_seqs; i++)
		r = restore_file(spool, list.seqs[i]);
	if (list.next_seq > spool->next_seq)
		spool->next_seq = list.next_seq;
	return r;
}

int spool_open(const struct spool_opts *opts, struct spool **ret_spool)
{
	_cleanup_(spool_closep) struct spool *spool = calloc(1, sizeof(*spool));
	int r = 0;

	if (!spool)
		return -ENOMEM;
	TAILQ_INIT(&spool->entries);
	spool->dir_fd = -EBADF;
	spool->max_bytes = opts->max_bytes;
	spool->max_memory_bytes = opts->dir ? opts->max_memory_bytes : opts->max_bytes;
	spool->format = opts->format;
	spool->next_seq = clock_real_ns();
	if (opts->dir)
		r = spool_dir_open(opts->dir, &spool->dir_fd);
	if (r == 0 && opts->dir)
		r = restore(spool);
	if (r < 0)
		return r;
	*ret_spool = take_ptr(spool);
	return 0;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	for (struct entry *entry; (entry = TAILQ_FIRST(&spool->entries));) {
		TAILQ_REMOVE(&spool->entries, entry, link);
		free_entry(entry);
	}
	if (spool->dir_fd >= 0)
		close(spool->dir_fd);
	free(spool);
}

/* Compresses the body, and frees the memory that only the worst case needs. */
static int pack(struct entry *entry, const void *body, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(SPOOL_BODY_MAX_BYTES +
								      PACK_OVERHEAD_BYTES);

	if (len > SPOOL_BODY_MAX_BYTES)
		return -ENOSPC;
	zstd_append(&packed, body, len);
	if (strbuf_error(&packed) < 0)
		return strbuf_error(&packed);
	if (packed.len > SPOOL_BODY_MAX_BYTES)
		return -ENOSPC;
	entry->packed = realloc(packed.data, packed.len);
	if (!entry->packed)
		return -ENOMEM;
	packed.data = NULL;
	entry->file.packed_bytes = packed.len;
	entry->file.body_bytes = len;
	return 0;
}

static int append(struct spool *spool, const struct spool_item *item, const void *body, size_t len)
{
	_cleanup_(free_entryp) struct entry *entry = calloc(1, sizeof(*entry));
	int r;

	if (!entry)
		return -ENOMEM;
	entry->file.format = spool->format;
	entry->file.item = *item;
	entry->file.item.nr_failures = 0;
	entry->file.item.mark = 0;
	r = pack(entry, body, len);
	if (r == 0)
		r = make_room(spool, file_bytes(&entry->file));
	if (r < 0)
		return r;
	entry->seq = spool->next_seq++;
	insert(spool, take_ptr(entry));
	return 0;
}

/* Evicts entries beyond the memory limit that could not be saved. */
static void evict_memory(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries), *next;

	for (; entry && spool->stats.nr_memory_bytes > spool->max_memory_bytes; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (entry->packed)
			evict(spool, entry);
	}
}

int spool_append(struct spool *spool, const struct spool_item *item, const void *body, size_t len)
{
	int r = append(spool, item, body, len);

	if (r < 0)
		add(&spool->stats.nr_samples_evicted, item->nr_samples);
	else if (spool->stats.nr_memory_bytes > spool->max_memory_bytes && spool_save(spool) < 0)
		evict_memory(spool);
	return r;
}

struct spool_item *spool_first(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries);

	return entry ? &entry->file.item : NULL;
}

int spool_read(struct spool *spool, struct strbuf *body)
{
	const struct entry *entry = TAILQ_FIRST(&spool->entries);

	if (!entry)
		return -ENOENT;
	if (!entry->packed)
		return spool_file_read_body(spool->dir_fd, entry->seq, body);
	return zstd_unpack(body, entry->packed, entry->file.packed_bytes, entry->file.body_bytes);
}

void spool_pop(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries);

	if (entry)
		drop(spool, entry);
}

void spool_drop_damaged(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries);

	if (!entry)
		return;
	count_damaged(spool, entry->file.item.nr_samples);
	drop(spool, entry);
}

uint64_t spool_drop_unsaved(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries);
	uint64_t nr_samples = 0;

	while (entry) {
		struct entry *next = TAILQ_NEXT(entry, link);

		if (entry->packed) {
			nr_samples += entry->file.item.nr_samples;
			drop(spool, entry);
		}
		entry = next;
	}
	return nr_samples;
}

void spool_rotate(struct spool *spool)
{
	struct entry *entry = TAILQ_FIRST(&spool->entries);
	uint64_t seq = spool->next_seq++;

	if (!entry)
		return;
	/* If renaming fails, the entry is in its old place after a restart. */
	if (entry->packed || spool_file_rename(spool->dir_fd, entry->seq, seq) == 0)
		entry->seq = seq;
	TAILQ_REMOVE(&spool->entries, entry, link);
	TAILQ_INSERT_TAIL(&spool->entries, entry, link);
}

static int save_entry(struct spool *spool, struct entry *entry)
{
	int r = spool_file_write(spool->dir_fd, entry->seq, &entry->file, entry->packed);

	if (r < 0)
		return r;
	spool->is_unsynced = true;
	subtract(&spool->stats.nr_memory_bytes, file_bytes(&entry->file));
	free(take_ptr(entry->packed));
	add(&spool->stats.nr_disk_bytes, file_bytes(&entry->file));
	return 0;
}

static int save_entries(struct spool *spool)
{
	struct entry *entry;
	int r = 0;

	TAILQ_FOREACH(entry, &spool->entries, link)
	{
		if (entry->packed)
			r = save_entry(spool, entry);
		if (r < 0 || spool->stats.nr_memory_bytes == 0)
			break;
	}
	return r;
}

static int sync_directory(struct spool *spool)
{
	if (!spool->is_unsynced)
		return 0;
	if (fsync(spool->dir_fd) < 0)
		return -errno;
	spool->is_unsynced = false;
	return 0;
}

/* Written files are synced even if writing others failed. */
int spool_save(struct spool *spool)
{
	int r, sync;

	if (spool->dir_fd < 0)
		return 0;
	r = save_entries(spool);
	sync = sync_directory(spool);
	r = r < 0 ? r : sync;
	if (r < 0)
		add(&spool->stats.nr_write_failures, 1);
	return r;
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

struct spool_stats spool_get_stats(const struct spool *spool)
{
	const struct spool_stats *stats = &spool->stats;

	return (struct spool_stats){
		.nr_requests = load(&stats->nr_requests),
		.nr_samples = load(&stats->nr_samples),
		.nr_disk_bytes = load(&stats->nr_disk_bytes),
		.nr_memory_bytes = load(&stats->nr_memory_bytes),
		.nr_samples_restored = load(&stats->nr_samples_restored),
		.nr_samples_evicted = load(&stats->nr_samples_evicted),
		.nr_samples_damaged = load(&stats->nr_samples_damaged),
		.nr_files_damaged = load(&stats->nr_files_damaged),
		.nr_write_failures = load(&stats->nr_write_failures),
	};
}

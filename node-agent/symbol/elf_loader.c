/* SPDX-License-Identifier: Apache-2.0 */
/* What the worker is asked, one thing after the other:
 *
 *	file that waits ─▶ TABLE ─▶ is there a debug file? ─▶ CRC ─▶ DEBUG_TABLE ─▶ done
 *	                                                └▶ (by build id) ──┘
 *	debug file from debuginfod ─────────────────────────▶ DEBUG_TABLE ─▶ done
 *	table with wanted addresses ─▶ LINES
 *
 * Files mostly come before lines, so that a file whose debug information is slow to read costs others their lines for
 * a while, but not their names. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* One file in so many is the oldest one instead of the smallest. */
#define OLDEST_EVERY 4

/* One job in so many is something else, even if files wait: a container may always have new ones. */
#define OTHERS_EVERY 8

/* Opening a gigabyte of debug information takes seconds; then an address takes less than a millisecond. */
static const struct elf_timeouts timeouts = {
	.table_ns = 10 * NSEC_PER_SEC,
	.crc_ns = 20 * NSEC_PER_SEC,
	.lines_ns = 15 * NSEC_PER_SEC,
};

static const struct elf_job no_job = {
	.file = { .fd = -EBADF, .root_fd = -EBADF },
	.debug = { .fd = -EBADF },
};

void elf_loader_init(struct elf_cache *cache)
{
	cache->timeouts = timeouts;
	cache->job = no_job;
}

void elf_loader_abandon(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;

	if (job->table)
		job->table->is_completing = false;
	if (job->kind != JOB_NONE)
		elf_file_release(&job->file);
	cleanup_closep(&job->debug.fd);
	*job = no_job;
}

static int send_request(struct elf_cache *cache, enum symbol_request_kind kind, int fd,
			size_t max_bytes, uint64_t timeout_ns)
{
	const struct worker_request request = { .kind = kind, .key = 1, .max_bytes = max_bytes };

	const struct worker_limits limits = { .timeout_ns = timeout_ns };

	return worker_client_send(cache->client, &request, NULL, &fd, 1, &limits);
}

/* The table has what it can get for now. */
static void end_job(struct elf_cache *cache)
{
	struct elf_table *table = cache->job.table;

	elf_loader_abandon(cache);
	elf_tables_tidy(cache, table);
}

static bool wants_debug_file(const struct elf_cache *cache, const struct elf_symbols_info *info)
{
	return !info->has_symtab || (cache->opts.wants_lines && !info->has_debug_info);
}

/* The next file that may be what the query says, from *nth on. Where others have the table too, only the host's word
 * counts. Errors: as debug_files_find(). */
static int find_debug_file(const struct elf_cache *cache, const struct debug_file_query *query,
			   size_t *nth, struct debug_file *ret_file)
{
	struct debug_file file;
	int r = -ENOENT;

	if (cache->opts.debug_files.host_root_fd < 0)
		return r;
	while ((r = debug_files_find(&cache->opts.debug_files, query, (*nth)++, &file)) == 0) {
		if (file.is_hosts || !cache->job.is_shared) {
			*ret_file = file;
			return 0;
		}
		close(file.fd);
	}
	return r;
}

/* What a container says of a file holds for that container. */
static void take_word(struct elf_table *table, const struct debug_file *file)
{
	if (!file->is_hosts)
		table->has_print = false;
}

/* The supplementary file that several debug files of a package share. */
static void open_alt(struct elf_cache *cache, struct elf_table *table,
		     const struct elf_symbols_info *info)
{
	const struct debug_file_query query = {
		.root_fd = cache->job.file.root_fd,
		.path = "",
		.build_id = info->alt_build_id,
		.link_name = "",
	};
	struct debug_file alt = { .fd = -EBADF };
	size_t nth = 0;

	if (!info->alt_build_id[0] || find_debug_file(cache, &query, &nth, &alt) < 0)
		return;
	table->alt_fd = alt.fd;
	take_word(table, &alt);
}

/* Source lines will come from that file. */
static void take_lines_file(struct elf_cache *cache, const struct elf_symbols *symbols, int *fd)
{
	struct elf_table *table = cache->job.table;
	const struct elf_symbols_info *info = elf_symbols_info(symbols);

	if (!cache->opts.wants_lines || !info->has_debug_info || table->lines_fd >= 0)
		return;
	table->lines_fd = take_fd(*fd);
	table->asked_ns = clock_mono_ns();
	open_alt(cache, table, info);
}

/* No debug file was found, or it takes too long: others wait to be read. */
static void end_search(struct elf_cache *cache)
{
	if (!cache->job.is_downloaded)
		elf_downloads_ask(cache, cache->job.table);
	end_job(cache);
}

/* Looks for the next file that may be the table's debug file and has the worker examine it; ends the job when there is
 * none. */
static void try_debug_file(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;
	const struct elf_symbols_info *info = elf_symbols_info(job->table->symbols);
	const struct debug_file_query query = {
		.root_fd = job->file.root_fd,
		.path = job->file.path ? job->file.path : "",
		.build_id = info->build_id,
		.link_name = info->link_name,
		.program = &job->file.identity,
	};

	if (find_debug_file(cache, &query, &job->nth_debug, &job->debug) < 0)
		end_search(cache);
	else
		job->kind = job->debug.is_by_link ? JOB_CRC : JOB_DEBUG_TABLE;
}

/* The one that was examined is not it. */
static void refuse_debug_file(struct elf_cache *cache, int error)
{
	cleanup_closep(&cache->job.debug.fd);
	cache->job.debug.fd = -EBADF;
	if (error == -ETIMEDOUT || cache->job.is_downloaded)
		end_search(cache);
	else
		try_debug_file(cache);
}

/* The file's own names are there. */
static void complete(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;
	struct elf_table *table = job->table;

	table->is_completing = true;
	elf_tables_renew_key(cache, table);
	take_lines_file(cache, table->symbols, &job->file.fd);
	if (wants_debug_file(cache, elf_symbols_info(table->symbols)))
		try_debug_file(cache);
	else
		end_job(cache);
}

static void fail_file(struct elf_cache *cache, int error)
{
	elf_cache_finish_file(cache, cache->job.file.id, NULL, error);
	end_job(cache);
}

static void take_table(struct elf_cache *cache, int error, void *bytes, size_t len)
{
	struct elf_job *job = &cache->job;
	struct elf_symbols *symbols = NULL;
	int r = error;

	if (r == 0)
		r = elf_symbols_from_block(bytes, len, &symbols);
	if (r == 0)
		r = elf_tables_add(cache, symbols, job->has_print ? &job->print : NULL,
				   &job->table);
	if (r < 0) {
		fail_file(cache, r);
		return;
	}
	elf_cache_finish_file(cache, job->file.id, job->table, 0);
	complete(cache);
}

static void take_crc(struct elf_cache *cache, int error, const void *bytes, size_t len)
{
	const struct elf_symbols_info *info = elf_symbols_info(cache->job.table->symbols);
	uint32_t crc = 0;

	if (error == 0 && len == sizeof(crc))
		memcpy(&crc, bytes, sizeof(crc));
	if (error == 0 && crc == info->link_crc)
		cache->job.kind = JOB_DEBUG_TABLE;
	else
		refuse_debug_file(cache, error);
}

/* A file found by its link was recognized by its checksum. */
static bool is_its_debug_file(const struct elf_job *job, const struct elf_symbols *symbols)
{
	const char *build_id = elf_symbols_info(job->table->symbols)->build_id;

	return job->debug.is_by_link || strcmp(elf_symbols_info(symbols)->build_id, build_id) == 0;
}

static void take_debug_table(struct elf_cache *cache, int error, void *bytes, size_t len)
{
	struct elf_job *job = &cache->job;
	struct elf_table *table = job->table;
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

	if (error == 0)
		error = elf_symbols_from_block(bytes, len, &symbols);
	if (error < 0 || !is_its_debug_file(job, symbols)) {
		refuse_debug_file(cache, error);
		return;
	}
	elf_cache_count(cache, &cache->stats.nr_debug_files, 1);
	take_word(table, &job->debug);
	take_lines_file(cache, symbols, &job->debug.fd);
	elf_symbols_free(table->debug_symbols);
	table->debug_symbols = take_ptr(symbols);
	elf_tables_renew_key(cache, table);
	end_job(cache);
}

void elf_loader_take_answer(struct elf_cache *cache, int error, void *bytes, size_t len)
{
	_cleanup_free_ void *owned = bytes;

	switch (cache->job.kind) {
	case JOB_TABLE:
		take_table(cache, error, take_ptr(owned), len);
		break;
	case JOB_CRC:
		take_crc(cache, error, owned, len);
		break;
	case JOB_DEBUG_TABLE:
		take_debug_table(cache, error, take_ptr(owned), len);
		break;
	case JOB_LINES:
		elf_loader_take_lines(cache, error, owned, len);
		end_job(cache);
		break;
	case JOB_NONE:
		break;
	}
}

/* A file that waits: either a copy of one that is known, or the worker's next job. */
static bool start_file(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;

	if (!elf_cache_take_waiting(cache, ++cache->nr_loads % OLDEST_EVERY == 0, &job->file))
		return false;
	job->kind = JOB_TABLE;
	job->has_print = elf_fingerprint_take(job->file.fd, cache->opts.max_bytes / 2,
					      cache->opts.wants_lines, &job->print) == 0;
	struct elf_table *copy = job->has_print ? elf_tables_find_copy(cache, &job->print) : NULL;
	if (!copy)
		return true;

	bool wants_files = copy->wants_files;
	elf_cache_finish_file(cache, job->file.id, copy, 0);
	job->table = copy;
	job->is_shared = true;
	if (wants_files)
		complete(cache);
	else
		end_job(cache);
	return true;
}

/* A debug file that was downloaded. */
static bool start_download(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;

	if (!elf_downloads_next(cache, &job->table, &job->debug.fd))
		return false;
	job->debug.is_hosts = true;
	job->is_shared = true;
	job->is_downloaded = true;
	job->table->is_completing = true;
	job->kind = JOB_DEBUG_TABLE;
	return true;
}

static bool start_lines(struct elf_cache *cache)
{
	cache->job.table = elf_tables_find_wanting(cache);
	if (!cache->job.table)
		return false;
	cache->job.table->last_served = cache->nr_starts;
	cache->job.kind = JOB_LINES;
	return true;
}

static bool start_job(struct elf_cache *cache)
{
	bool is_others_turn = ++cache->nr_starts % OTHERS_EVERY == 0;

	if (is_others_turn && (start_download(cache) || start_lines(cache)))
		return true;
	return start_file(cache) || start_download(cache) || start_lines(cache);
}

/* Of a table: own names and those of the debug file together have half of the budget. */
static size_t max_table_bytes(const struct elf_cache *cache, const struct elf_table *table)
{
	size_t max_bytes = cache->opts.max_bytes / 2;
	size_t own_bytes = table ? elf_symbols_bytes(table->symbols) : 0;

	return own_bytes < max_bytes ? max_bytes - own_bytes : 0;
}

static int send_job(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;
	size_t max_bytes = max_table_bytes(cache, job->table);

	switch (job->kind) {
	case JOB_TABLE:
		return send_request(cache, SYMBOL_REQUEST_TABLE, job->file.fd, max_bytes,
				    cache->timeouts.table_ns);
	case JOB_CRC:
		return send_request(cache, SYMBOL_REQUEST_CRC, job->debug.fd, sizeof(uint32_t),
				    cache->timeouts.crc_ns);
	case JOB_DEBUG_TABLE:
		return send_request(cache, SYMBOL_REQUEST_TABLE, job->debug.fd, max_bytes,
				    cache->timeouts.table_ns);
	case JOB_LINES:
		return elf_loader_send_lines(cache, job->table);
	case JOB_NONE:
		break;
	}
	return 0;
}

/* A job that cannot be sent now stays the present one; one that never can is answered here. */
void elf_loader_start_next(struct elf_cache *cache)
{
	while (!worker_client_is_busy(cache->client)) {
		if (cache->job.kind == JOB_NONE && !start_job(cache))
			return;
		int r = send_job(cache);
		if (r == -EAGAIN)
			return;
		if (r < 0)
			elf_loader_take_answer(cache, r, NULL, 0);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the worker is asked, one thing after the other:
 *
 *	file that waits ─▶ TABLE ─▶ is there a debug file? ─▶ CRC ─▶ DEBUG_TABLE ─▶ done
 *	                                                └▶ (by build id) ──┘
 *	debug file from debuginfod ─────────────────────────▶ DEBUG_TABLE ─▶ done
 *	table with wanted addresses ─▶ LINES
 *
 * Files come before lines, so that a file whose debug information is slow to read costs others their lines for a
 * while, but not their names. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* One file in so many is the oldest one instead of the smallest. */
#define OLDEST_EVERY 4

#define TABLE_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define CRC_TIMEOUT_NS (20 * NSEC_PER_SEC)

/* Names wait so long for a file that debuginfod was asked for: it may be one that was downloaded before. */
#define AWAIT_DEBUGINFOD_NS (500 * NSEC_PER_MSEC)

static const struct elf_job no_job = {
	.file = { .fd = -EBADF, .root_fd = -EBADF },
	.debug = { .fd = -EBADF },
};

void elf_loader_init(struct elf_cache *cache)
{
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
			uint64_t timeout_ns)
{
	const struct symbol_request request = {
		.kind = kind,
		.key = 1,
		.max_bytes = cache->opts.max_bytes / 2,
	};

	return symbol_client_send(cache->client, &request, NULL, &fd, 1, timeout_ns);
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
	struct debug_file alt;

	if (info->alt_build_id[0] &&
	    debug_files_find(&cache->opts.debug_files, &query, 0, &alt) == 0)
		table->alt_fd = alt.fd;
}

/* Source lines will come from that file. */
static void take_lines_file(struct elf_cache *cache, const struct elf_symbols *symbols, int *fd)
{
	struct elf_table *table = cache->job.table;
	const struct elf_symbols_info *info = elf_symbols_info(symbols);

	if (!cache->opts.wants_lines || !info->has_debug_info || table->lines_fd >= 0)
		return;
	table->lines_fd = take_fd(*fd);
	open_alt(cache, table, info);
}

static void ask_debuginfod(struct elf_cache *cache)
{
	struct elf_table *table = cache->job.table;
	const char *build_id = elf_symbols_info(table->symbols)->build_id;

	if (!cache->opts.debuginfod || !build_id[0] ||
	    debuginfod_ask(cache->opts.debuginfod, build_id, table->key) < 0)
		return;
	table->await_ns = clock_mono_ns() + AWAIT_DEBUGINFOD_NS;
	cache->await_debuginfod_ns = table->await_ns;
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
		.program = job->file.id != 0 ? &job->file.identity : NULL,
	};

	cleanup_closep(&job->debug.fd);
	job->debug.fd = -EBADF;
	if (cache->opts.debug_files.host_root_fd < 0 ||
	    debug_files_find(&cache->opts.debug_files, &query, job->nth_debug++, &job->debug) < 0) {
		ask_debuginfod(cache);
		end_job(cache);
		return;
	}
	job->kind = job->debug.is_by_link ? JOB_CRC : JOB_DEBUG_TABLE;
}

/* The file's own names are there. */
static void complete(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;
	struct elf_table *table = job->table;

	table->is_completing = true;
	table->wants_files = false;
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
		try_debug_file(cache);
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

	if (error < 0 || elf_symbols_from_block(bytes, len, &symbols) < 0 ||
	    !is_its_debug_file(job, symbols)) {
		try_debug_file(cache);
		return;
	}
	cache->stats.nr_debug_files++;
	/* What a container says of a file holds for that container. */
	if (!job->debug.is_hosts)
		table->has_print = false;
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

	elf_cache_finish_file(cache, job->file.id, copy, 0);
	job->table = copy;
	if (copy->wants_files)
		complete(cache);
	else
		end_job(cache);
	return true;
}

/* A debug file that was downloaded. */
static bool start_debuginfod(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;
	uint64_t key;

	if (!cache->opts.debuginfod ||
	    debuginfod_next(cache->opts.debuginfod, &key, &job->debug.fd) <= 0)
		return false;
	job->debug.is_hosts = true;
	job->table = elf_tables_find_key(cache, key);
	if (!job->table || !job->table->has_names) {
		job->table = NULL;
		end_job(cache);
		return true;
	}
	job->table->is_completing = true;
	job->table->await_ns = 0;
	job->nth_debug = SIZE_MAX; /* no others are tried */
	job->kind = JOB_DEBUG_TABLE;
	return true;
}

static bool start_lines(struct elf_cache *cache)
{
	cache->job.table = elf_tables_find_wanting(cache);
	if (!cache->job.table)
		return false;
	cache->job.kind = JOB_LINES;
	return true;
}

static int send_job(struct elf_cache *cache)
{
	struct elf_job *job = &cache->job;

	switch (job->kind) {
	case JOB_TABLE:
		return send_request(cache, SYMBOL_REQUEST_TABLE, job->file.fd, TABLE_TIMEOUT_NS);
	case JOB_CRC:
		return send_request(cache, SYMBOL_REQUEST_CRC, job->debug.fd, CRC_TIMEOUT_NS);
	case JOB_DEBUG_TABLE:
		return send_request(cache, SYMBOL_REQUEST_TABLE, job->debug.fd, TABLE_TIMEOUT_NS);
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
	while (!symbol_client_is_busy(cache->client)) {
		if (cache->job.kind == JOB_NONE && !start_file(cache) && !start_debuginfod(cache) &&
		    !start_lines(cache))
			return;
		int r = send_job(cache);
		if (r == -EAGAIN)
			return;
		if (r < 0)
			elf_loader_take_answer(cache, r, NULL, 0);
	}
}

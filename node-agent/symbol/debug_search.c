/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debug_search.h"

#include "base/clock.h"

#include <string.h>
#include <sys/stat.h>

#define LARGE_BYTES ((off_t)64 << 20)

uint64_t debug_search_nr_found(const struct debug_search *search)
{
	return __atomic_load_n(&search->nr_found, __ATOMIC_RELAXED);
}

static bool wants_debug_file(const struct debug_search *search, const struct elf_symbols_info *info)
{
	return !info->has_symtab || (search->wants_lines && !info->has_debug_info);
}

/* Finds the next candidate, from *nth on. If other files have the table, too, only files of the
 * host are trusted. Errors: as debug_files_find(). */
static int find_debug_file(const struct debug_search *search, const struct symbol_job *job,
			   const struct debug_file_query *query, size_t *nth,
			   struct debug_file *ret_file)
{
	struct debug_file file;
	int r = -ENOENT;

	if (search->files.host_root_fd < 0)
		return r;
	while ((r = debug_files_find(&search->files, query, (*nth)++, &file)) == 0) {
		if (file.is_hosts || !job->is_shared) {
			*ret_file = file;
			return 0;
		}
		close(file.fd);
	}
	return r;
}

/* A debug file of a container is only trusted for this container, so the table may no longer be
 * shared with copies of the file. */
static void mark_untrusted(struct name_table *table, const struct debug_file *file)
{
	if (!file->is_hosts)
		table->has_print = false;
}

/* Opens the supplementary file that several debug files of a package share. */
static void open_alt(const struct debug_search *search, const struct symbol_job *job,
		     const struct elf_symbols_info *info)
{
	const struct debug_file_query query = {
		.root_fd = job->file.opened.root_fd,
		.path = "",
		.build_id = info->alt_build_id,
		.link_name = "",
	};
	struct debug_file alt = { .fd = -EBADF };
	size_t nth = 0;

	if (!info->alt_build_id[0] || find_debug_file(search, job, &query, &nth, &alt) < 0)
		return;
	job->table->alt_fd = alt.fd;
	mark_untrusted(job->table, &alt);
}

/* Returns whether the worker may need more memory for the debug information of a file than the fast
 * lane has between requests. */
static bool is_large(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size > LARGE_BYTES;
}

/* Keeps the file for source lines, if it has any and the table needs them. */
static void take_lines_file(struct debug_search *search, const struct symbol_job *job,
			    const struct elf_symbols *symbols, int *fd)
{
	const struct elf_symbols_info *info = elf_symbols_info(symbols);
	struct name_table *table = job->table;

	if (!search->wants_lines || !info->has_debug_info || table->lines_fd >= 0)
		return;
	table->lines_fd = take_fd(*fd);
	table->has_large_lines = is_large(table->lines_fd);
	table->asked_ns = clock_mono_ns();
	open_alt(search, job, info);
	if (symbols == table->symbols && job->has_print && table->alt_fd < 0)
		line_store_set_key(name_store_lines(search->store), table, &job->print);
	else
		line_store_ask_key(table);
}

/* Ends the search if no debug file was found, or if it takes too long. */
static void end_search(struct debug_search *search, struct symbol_job *job)
{
	if (!job->is_downloaded)
		debug_downloads_ask(search->downloads, job->table);
	symbol_jobs_end(search->jobs, job);
}

/* Looks for the next file that may be the table's debug file and has the worker examine it; ends
 * the job when there is none. */
static void try_debug_file(struct debug_search *search, struct symbol_job *job)
{
	const struct elf_symbols_info *info = elf_symbols_info(job->table->symbols);
	const struct debug_file_query query = {
		.root_fd = job->file.opened.root_fd,
		.path = job->file.opened.path ? job->file.opened.path : "",
		.build_id = info->build_id,
		.link_name = info->link_name,
		.program = &job->file.identity,
	};

	if (find_debug_file(search, job, &query, &job->nth_debug, &job->debug) < 0)
		end_search(search, job);
	else
		job->kind = job->debug.is_by_link ? JOB_CRC : JOB_DEBUG_TABLE;
}

/* Closes a candidate that is not the right file, and tries the next one. */
static void refuse_debug_file(struct debug_search *search, struct symbol_job *job, int error)
{
	cleanup_closep(&job->debug.fd);
	job->debug.fd = -EBADF;
	if (error == -ETIMEDOUT || job->is_downloaded)
		end_search(search, job);
	else
		try_debug_file(search, job);
}

void debug_search_start(struct debug_search *search, struct symbol_job *job)
{
	struct name_table *table = job->table;

	table->is_completing = true;
	name_store_renew_key(search->store, table);
	take_lines_file(search, job, table->symbols, &job->file.opened.fd);
	if (wants_debug_file(search, elf_symbols_info(table->symbols)))
		try_debug_file(search, job);
	else
		symbol_jobs_end(search->jobs, job);
}

void debug_search_take_crc(struct debug_search *search, struct symbol_job *job, int error,
			   const void *bytes, size_t len)
{
	const struct elf_symbols_info *info = elf_symbols_info(job->table->symbols);
	uint32_t crc = 0;

	if (error == 0 && len != sizeof(crc)) {
		symbol_jobs_distrust(search->jobs, job);
		error = -EBADMSG;
	}
	if (error == 0)
		memcpy(&crc, bytes, sizeof(crc));
	if (error == 0 && crc == info->link_crc)
		job->kind = JOB_DEBUG_TABLE;
	else
		refuse_debug_file(search, job, error);
}

/* Returns whether a file is the table's debug file. The checksum of a file found by debuglink was
 * verified before. */
static bool is_its_debug_file(const struct symbol_job *job, const struct elf_symbols *symbols)
{
	const char *build_id = elf_symbols_info(job->table->symbols)->build_id;

	return job->debug.is_by_link || strcmp(elf_symbols_info(symbols)->build_id, build_id) == 0;
}

void debug_search_take_table(struct debug_search *search, struct symbol_job *job, int error,
			     void *bytes, size_t len)
{
	struct name_table *table = job->table;
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;

	if (error == 0)
		error = symbol_jobs_take_symbols(search->jobs, job, bytes, len, &symbols);
	if (error < 0 || !is_its_debug_file(job, symbols)) {
		refuse_debug_file(search, job, error);
		return;
	}
	__atomic_add_fetch(&search->nr_found, 1, __ATOMIC_RELAXED);
	mark_untrusted(table, &job->debug);
	take_lines_file(search, job, symbols, &job->debug.fd);
	elf_symbols_free(table->debug_symbols);
	table->debug_symbols = take_ptr(symbols);
	name_store_renew_key(search->store, table);
	symbol_jobs_end(search->jobs, job);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_reader.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/text.h"
#include "store/dict_cache.h"
#include "store/pin_dir.h"
#include "store/store_dir.h"
#include "store/store_file.h"
#include "store/stored_value.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SPANS 100000
#define PATH_BYTES 4096
#define DICTS_MAX_BYTES ((size_t)128 << 20)

static void span_done(struct store_span *span)
{
	free(span->path);
	free(span->host);
}

/* A look at all files. */
struct scan {
	struct store_span *spans; /* owned */
	size_t nr_spans, cap_spans;
	const struct store_reader *before; /* borrowed; what is known already */
	size_t next; /* where in it the next file probably is: the order is mostly the same */
	/* The directory is that of a writer. If a file lacks its log there, the writer was killed
	 * where the log was not made yet, or was merged already. */
	bool is_original;
	struct strbuf *warnings; /* borrowed */
};

static void scan_done(struct scan *scan)
{
	for (size_t i = 0; i < scan->nr_spans; i++)
		span_done(&scan->spans[i]);
	free(scan->spans);
}

static void remove_spans(struct store_reader *reader)
{
	for (size_t i = 0; i < reader->nr_spans; i++)
		span_done(&reader->spans[i]);
	free(reader->spans);
}

void store_reader_done(struct store_reader *reader)
{
	remove_spans(reader);
	dict_cache_free(reader->dicts);
	*reader = (struct store_reader){ 0 };
}

/* Adds a number of a block to that of its type. */
static void add_value(uint64_t *sums, const struct store_block *block, uint64_t value)
{
	if (block->type < PROFILE_NR_TYPES)
		sums[block->type] += stored_value_restore(block->type, block->period, value);
}

static int see_block(const struct store_block *block, const void *data, size_t len, void *context)
{
	struct store_span *span = context;

	(void)data;
	(void)len;
	if (span->end_s == 0 || block->first_s < span->first_s)
		span->first_s = block->first_s;
	span->end_s = max_u64(span->end_s, block->end_s);
	add_value(span->nr_samples, block, block->total);
	add_value(span->folded, block, block->folded);
	span->min_count = max_u64(span->min_count, block->min_count);
	return 0;
}

static int see_timeline(const struct store_timeline_row *row, const void *data, size_t len,
			void *context)
{
	struct store_span *span = context;

	(void)data;
	(void)len;
	if (span->timeline_end_s == 0 || row->first_s < span->timeline_first_s)
		span->timeline_first_s = row->first_s;
	span->timeline_end_s = max_u64(span->timeline_end_s, row->end_s);
	return 0;
}

static int see_gap(const struct store_gap *gap, void *context)
{
	struct store_span *span = context;

	span->nr_lost += gap->nr_samples;
	return 0;
}

static int look_into(const char *path, struct store_span *span)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;

	int r = store_file_open(path, &file);
	if (r < 0)
		return r;
	span->lacks_log = store_file_lacks_log(file);
	if ((r = text_copy(path, &span->path)) < 0 ||
	    (r = text_copy(store_file_host(file), &span->host)) < 0 ||
	    (r = store_file_begin(file)) < 0 ||
	    (r = store_file_read_blocks(file, 0, UINT64_MAX, false, see_block, span)) < 0 ||
	    (r = store_file_read_timeline(file, 0, UINT64_MAX, false, see_timeline, span)) < 0)
		return r;
	return store_file_read_gaps(file, see_gap, span);
}

static const char *explain(int error)
{
	if (error == -EBADMSG)
		return "it is damaged, or no file of a record";
	if (error == -EOPNOTSUPP)
		return "another version of Flamelet wrote it, in a format that this one does not "
		       "know";
	if (error == -ENOLINK)
		return "its log is missing, the file of the same name and -wal: copy both, or wait "
		       "until the agent has begun a new file";
	return strerror(-error);
}

static uint64_t changed_ns(const struct stat *status)
{
	return (uint64_t)status->st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)status->st_mtim.tv_nsec;
}

static struct store_stamp read_stamp(const char *path)
{
	char log[PATH_BYTES];
	struct stat status = { 0 }, of_log = { 0 };

	if (stat(path, &status) < 0)
		status = (struct stat){ 0 };
	if (snprintf(log, sizeof(log), "%s-wal", path) >= PATH_BYTES || stat(log, &of_log) < 0)
		of_log = (struct stat){ 0 };
	return (struct store_stamp){
		.device = status.st_dev,
		.inode = status.st_ino,
		.bytes = (uint64_t)status.st_size,
		.changed_ns = changed_ns(&status),
		.log_bytes = (uint64_t)of_log.st_size,
		.log_changed_ns = changed_ns(&of_log),
	};
}

static const struct store_span *find_known(struct scan *scan, const char *path,
					   const struct store_stamp *stamp)
{
	const struct store_reader *before = scan->before;

	for (size_t i = 0; i < before->nr_spans; i++) {
		size_t at = (scan->next + i) % before->nr_spans;
		const struct store_span *span = &before->spans[at];

		if (strcmp(span->path, path) != 0)
			continue;
		scan->next = at + 1;
		return memcmp(&span->stamp, stamp, sizeof(*stamp)) == 0 ? span : NULL;
	}
	return NULL;
}

static int copy_known(const struct store_span *known, struct store_span *span)
{
	uint64_t bytes = span->bytes;

	*span = *known;
	span->bytes = bytes;
	span->is_pinned = false; /* add_dir() decides */
	span->path = NULL;
	span->host = NULL;
	int r = text_copy(known->path, &span->path);
	return r < 0 ? r : text_copy(known->host, &span->host);
}

static int add_file(struct scan *scan, const char *path, uint64_t bytes)
{
	struct store_stamp stamp = read_stamp(path);
	struct store_span span = { .bytes = bytes, .min_count = 1, .stamp = stamp };
	const struct store_span *known = find_known(scan, path, &stamp);

	int r = array_grow(scan->spans, scan->cap_spans, scan->nr_spans + 1, MAX_SPANS);
	if (r == 0)
		r = known ? copy_known(known, &span) : look_into(path, &span);
	if (r == 0) {
		scan->spans[scan->nr_spans++] = span;
		if (span.lacks_log && !known && !scan->is_original)
			strbuf_appendf(
				scan->warnings,
				"%s lacks what was written last: its log is missing, %s-wal\n",
				path, path);
		return 0;
	}
	span_done(&span);
	if (r == -ENODATA || (r == -ENOLINK && scan->is_original))
		return 0;
	if (r == -ENOMEM)
		return r;
	strbuf_appendf(scan->warnings, "%s is left out: %s\n", path, explain(r));
	return 0;
}

/* Returns whether one of the files from index `first` on has that name. */
static bool has_file(const struct scan *scan, size_t first, const char *name)
{
	for (size_t i = first; i < scan->nr_spans; i++)
		if (strcmp(strrchr(scan->spans[i].path, '/') + 1, name) == 0)
			return true;
	return false;
}

/* Adds the files of a directory, except those whose names are there already from index `first`
 * on. */
static int add_files(struct scan *scan, const char *dir, size_t first)
{
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };
	char path[PATH_BYTES];

	int r = store_dir_list(dir, &list);
	scan->is_original = snprintf(path, sizeof(path), "%s/" STORE_DIR_LOCK, dir) < PATH_BYTES &&
			    access(path, F_OK) == 0;
	for (size_t i = 0; r == 0 && i < list.nr; i++) {
		if (has_file(scan, first, list.items[i].name))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, list.items[i].name) >= PATH_BYTES)
			r = -ENAMETOOLONG;
		else
			r = add_file(scan, path, list.items[i].bytes);
	}
	return r;
}

/* A file of pinned ranges counts only without its original. */
static int add_dir(struct scan *scan, const char *dir)
{
	size_t nr_before = scan->nr_spans;
	char pins[PATH_BYTES];

	int r = add_files(scan, dir, nr_before);
	if (r < 0 && r != -ENOMEM)
		strbuf_appendf(scan->warnings, "%s: %s\n", dir, strerror(-r));
	size_t nr_originals = scan->nr_spans;
	if (r == 0 && snprintf(pins, sizeof(pins), "%s/" PIN_DIR_NAME, dir) < PATH_BYTES)
		r = add_files(scan, pins, nr_before);
	for (size_t i = nr_originals; i < scan->nr_spans; i++)
		scan->spans[i].is_pinned = true;
	if (r == 0 && scan->nr_spans == nr_before)
		strbuf_appendf(scan->warnings, "%s has no files of a record\n", dir);
	return r == -ENOMEM ? r : 0;
}

static int add_path(struct scan *scan, const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		strbuf_appendf(scan->warnings, "%s: %s\n", path, strerror(errno));
		return 0;
	}
	if (S_ISDIR(status.st_mode))
		return add_dir(scan, path);
	scan->is_original = false;
	return add_file(scan, path, (uint64_t)status.st_size);
}

static int compare(const void *a, const void *b)
{
	const struct store_span *one = a, *other = b;
	int order = strcmp(one->host, other->host);

	if (order == 0)
		order = (one->first_s > other->first_s) - (one->first_s < other->first_s);
	return order;
}

int store_reader_refresh(struct store_reader *reader, const char *const *paths, size_t nr_paths,
			 struct strbuf *warnings)
{
	_cleanup_(scan_done) struct scan scan = { .before = reader, .warnings = warnings };

	for (size_t i = 0; i < nr_paths; i++) {
		int r = add_path(&scan, paths[i]);
		if (r < 0)
			return r;
	}
	if (scan.nr_spans > 1)
		qsort(scan.spans, scan.nr_spans, sizeof(*scan.spans), compare);
	remove_spans(reader);
	reader->spans = take_ptr(scan.spans);
	reader->nr_spans = scan.nr_spans;
	reader->cap_spans = scan.cap_spans;
	scan.nr_spans = 0;
	return 0;
}

int store_reader_open(const char *const *paths, size_t nr_paths, struct strbuf *warnings,
		      struct store_reader *ret_reader)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };

	int r = dict_cache_new(DICTS_MAX_BYTES, &reader.dicts);
	if (r == 0)
		r = store_reader_refresh(&reader, paths, nr_paths, warnings);
	if (r < 0)
		return r;
	if (reader.nr_spans == 0)
		return -ENOENT;
	*ret_reader = reader;
	reader = (struct store_reader){ 0 };
	return 0;
}

uint64_t store_reader_newest(const struct store_reader *reader)
{
	uint64_t end_s = 0, timeline_end_s = 0;

	for (size_t i = 0; i < reader->nr_spans; i++) {
		end_s = max_u64(end_s, reader->spans[i].end_s);
		timeline_end_s = max_u64(timeline_end_s, reader->spans[i].timeline_end_s);
	}
	if (end_s == 0)
		end_s = timeline_end_s;
	return end_s ? end_s - 1 : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit_source.h"

#include "base/clock.h"
#include "symbol/jit_cache.h"

#include <string.h>
#include <sys/stat.h>

void jit_source_init(struct jit_source *source, enum jit_source_kind kind)
{
	*source = (struct jit_source){ .kind = kind, .fd = -EBADF };
}

void jit_source_close(struct jit_source *source)
{
	cleanup_closep(&source->fd);
	source->fd = -EBADF;
}

void jit_source_done(struct jit_source *source)
{
	jit_source_close(source);
	jit_functions_free(source->functions);
	jit_functions_free(source->previous);
}

/* Starts at the beginning of the file, and keeps the functions. */
static void rewind_file(struct jit_source *source)
{
	source->offset = 0;
	source->tail_len = 0;
	source->has_ended = false;
	source->has_more = true;
	source->map_reader = (struct perf_map_reader){ 0 };
	source->dump_reader = (struct jitdump_reader){ 0 };
}

void jit_source_drop(struct jit_source *source)
{
	rewind_file(source);
	jit_functions_free(take_ptr(source->functions));
	jit_functions_free(take_ptr(source->previous));
}

/* Starts anew. What was known in full goes on answering until the new file is. */
static void start_anew(struct jit_source *source)
{
	if (!source->previous)
		source->previous = take_ptr(source->functions);
	jit_functions_free(take_ptr(source->functions));
	rewind_file(source);
}

bool jit_source_is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

void jit_source_set_file(struct jit_source *source, int fd, const struct file_identity *identity)
{
	jit_source_close(source);
	source->fd = fd;
	if (!jit_source_is_same_file(&source->identity, identity))
		start_anew(source);
	source->identity = *identity;
	source->has_more = true;
}

/* What is before the place where reading stopped. */
static size_t read_tail(const struct jit_source *source, char tail[static JIT_SOURCE_TAIL_BYTES])
{
	size_t len = source->offset < JIT_SOURCE_TAIL_BYTES ? (size_t)source->offset
							    : JIT_SOURCE_TAIL_BYTES;
	ssize_t n = pread(source->fd, tail, len, (off_t)(source->offset - len));

	return n < 0 ? 0 : (size_t)n;
}

static bool is_rewritten(const struct jit_source *source, uint64_t size, int64_t mtime_ns)
{
	char tail[JIT_SOURCE_TAIL_BYTES];

	if (size < source->offset)
		return true;
	if (source->offset == 0 || mtime_ns == source->mtime_ns)
		return false;
	return size == source->offset || read_tail(source, tail) != source->tail_len ||
	       memcmp(tail, source->tail, source->tail_len) != 0;
}

/* Hands a piece of the file to its parser and collects what that counted. */
static int64_t feed(struct jit_source *source, const char *data, size_t len, uint64_t nr_left)
{
	int64_t n;

	if (source->kind == JIT_SOURCE_MAP)
		n = perf_map_feed(&source->map_reader, data, len, source->functions);
	else
		n = jitdump_feed(&source->dump_reader, data, len, nr_left, source->functions);
	source->nr_bad += source->map_reader.nr_bad_lines + source->dump_reader.nr_bad_records;
	source->nr_dropped += source->dump_reader.nr_lines_dropped;
	source->map_reader.nr_bad_lines = 0;
	source->dump_reader.nr_bad_records = 0;
	source->dump_reader.nr_lines_dropped = 0;
	return n;
}

/* Reads pieces up to `size` or the end of the budget. */
static int read_pieces(struct jit_source *source, uint64_t size, struct jit_budget *budget)
{
	size_t nr_read = 0;

	while (source->offset < size && nr_read < budget->file_bytes && budget->nr_bytes_left > 0) {
		uint64_t nr_left = size - source->offset;
		size_t want = nr_left < JIT_BUDGET_BUFFER_BYTES ? (size_t)nr_left
								: JIT_BUDGET_BUFFER_BYTES;
		ssize_t got = pread(source->fd, budget->buffer, want, (off_t)source->offset);

		if (got <= 0)
			return 0;
		nr_read += (size_t)got;
		budget->nr_bytes_left -= budget->nr_bytes_left < (size_t)got ? budget->nr_bytes_left
									     : (size_t)got;
		int64_t done = feed(source, budget->buffer, (size_t)got, nr_left);
		if (done <= 0)
			return (int)done;
		source->offset += (uint64_t)done;
	}
	source->has_more = source->offset < size;
	return 0;
}

/* A limit or damage ends the reading of this file, not of others. */
static int end_reading(struct jit_source *source, int error)
{
	if (error != -EBADMSG && error != -ENOSPC)
		return error;
	source->has_ended = true;
	source->nr_bad += error == -EBADMSG;
	source->nr_dropped += error == -ENOSPC;
	return 0;
}

static int read_new(struct jit_source *source, uint64_t size, struct jit_budget *budget)
{
	int r = 0;

	source->has_more = false;
	if (!source->functions)
		r = jit_functions_new(budget->max_functions_bytes, &source->functions);
	if (r == 0)
		r = read_pieces(source, size, budget);
	if (r < 0)
		r = end_reading(source, r);
	source->tail_len = read_tail(source, source->tail);
	if (!source->functions)
		return r;

	int settled = jit_functions_settle(source->functions);
	if (settled < 0)
		settled = end_reading(source, settled);
	if (!source->has_more && settled == 0)
		jit_functions_free(take_ptr(source->previous));
	return r < 0 ? r : settled;
}

int jit_source_read(struct jit_source *source, struct jit_budget *budget)
{
	struct stat st;

	if (source->fd < 0 || fstat(source->fd, &st) < 0) {
		source->has_more = false;
		return 0;
	}
	uint64_t size = (uint64_t)st.st_size;
	int64_t mtime_ns = (int64_t)((uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
				     (uint64_t)st.st_mtim.tv_nsec);
	if (is_rewritten(source, size, mtime_ns))
		start_anew(source);
	source->nr_too_large += size > JIT_MAX_FILE_BYTES && !source->is_too_large;
	source->is_too_large = size > JIT_MAX_FILE_BYTES;
	source->mtime_ns = mtime_ns;
	if (!source->has_ended && !source->is_too_large && size > source->offset)
		return read_new(source, size, budget);
	source->has_more = false;
	return source->functions ? jit_functions_settle(source->functions) : 0;
}

bool jit_source_find(const struct jit_source *source, uint64_t address, struct jit_found *ret_found)
{
	return (source->functions && jit_functions_find(source->functions, address, ret_found)) ||
	       (source->previous && jit_functions_find(source->previous, address, ret_found));
}

size_t jit_source_bytes(const struct jit_source *source)
{
	return (source->functions ? jit_functions_bytes(source->functions) : 0) +
	       (source->previous ? jit_functions_bytes(source->previous) : 0);
}

size_t jit_source_count(const struct jit_source *source)
{
	return source->functions ? jit_functions_count(source->functions) : 0;
}

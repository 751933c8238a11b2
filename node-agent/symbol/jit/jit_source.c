/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_source.h"

#include "base/clock.h"

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
	source->place = (struct jit_place){ 0 };
	source->nr_starts++;
	source->has_ended = false;
	source->has_more = true;
}

void jit_source_drop(struct jit_source *source)
{
	rewind_file(source);
	jit_functions_free(take_ptr(source->functions));
	jit_functions_free(take_ptr(source->previous));
}

/* Keeps `previous` if it is set, because `functions` may be incomplete then. */
void jit_source_restart(struct jit_source *source)
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
		jit_source_restart(source);
	source->identity = *identity;
	source->has_more = true;
}

/* Returns whether size and time show that the file was rewritten. */
static bool is_rewritten(const struct jit_source *source, uint64_t size, int64_t mtime_ns)
{
	uint64_t offset = source->place.offset;

	return size < offset || (size == offset && offset > 0 && mtime_ns != source->mtime_ns);
}

static int64_t mtime_of(const struct stat *st)
{
	return (int64_t)((uint64_t)st->st_mtim.tv_sec * NSEC_PER_SEC +
			 (uint64_t)st->st_mtim.tv_nsec);
}

bool jit_source_ask(struct jit_source *source, uint64_t max_read, struct jit_request *ret_request)
{
	struct stat st;

	source->has_more = false;
	if (source->fd < 0 || fstat(source->fd, &st) < 0)
		return false;
	uint64_t size = (uint64_t)st.st_size;
	int64_t mtime_ns = mtime_of(&st);
	if (is_rewritten(source, size, mtime_ns))
		jit_source_restart(source);
	source->nr_too_large += size > JIT_MAX_FILE_BYTES && !source->is_too_large;
	source->is_too_large = size > JIT_MAX_FILE_BYTES;
	bool may_be_other = source->place.offset > 0 && mtime_ns != source->mtime_ns;
	source->has_more = !source->is_too_large && size > source->place.offset &&
			   (!source->has_ended || may_be_other);
	if (!source->has_more)
		return false;

	source->asked_mtime_ns = mtime_ns;
	*ret_request = (struct jit_request){
		.source = source->kind,
		.compares_tail = may_be_other,
		.size = size,
		.max_read = source->has_ended ? 0 : max_read,
		.place = source->place,
	};
	return true;
}

/* Adds functions and makes them visible. At a limit, the old ones stay visible. */
static int add_functions(struct jit_source *source, const struct jit_block_view *view,
			 size_t max_bytes)
{
	struct jit_block_counts counts = { 0 };
	int r = 0;

	if (!source->functions)
		r = jit_functions_new(max_bytes, &source->functions);
	if (r < 0)
		return r;
	r = jit_block_add_to(view, source->functions, &counts);
	source->nr_bad += counts.nr_bad;
	source->nr_dropped += counts.nr_lines_dropped;
	int settled = jit_functions_settle(source->functions);
	return r < 0 ? r : settled;
}

/* A limit or damage ends the reading of this file, not of others. */
static int take_functions(struct jit_source *source, const struct jit_answer *answer,
			  const struct jit_block_view *view, size_t max_bytes)
{
	int r = add_functions(source, view, max_bytes);

	if (r < 0 && r != -ENOSPC)
		return r;
	source->nr_bad += answer->nr_bad + answer->is_damaged;
	source->nr_dropped += r == -ENOSPC;
	source->mtime_ns = source->asked_mtime_ns;
	source->place = answer->place;
	source->has_ended = answer->is_damaged || r == -ENOSPC;
	source->has_more = answer->has_more && !source->has_ended;
	if (!source->has_more)
		jit_functions_free(take_ptr(source->previous));
	return 0;
}

int jit_source_take(struct jit_source *source, const struct jit_request *request, const void *bytes,
		    size_t len, size_t max_bytes)
{
	struct jit_answer answer;
	struct jit_block_view view;

	int r = jit_answer_open(request, bytes, len, &answer, &view);
	if (r < 0)
		return r;
	source->nr_read = answer.nr_read;
	if (answer.is_rewritten) {
		jit_source_restart(source);
		return 0;
	}
	if (!source->has_ended)
		return take_functions(source, &answer, &view, max_bytes);
	source->mtime_ns = source->asked_mtime_ns;
	source->has_more = false;
	return 0;
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

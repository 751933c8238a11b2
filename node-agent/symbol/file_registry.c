/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_registry.h"

#include "base/clock.h"
#include "base/locked.h"
#include "symbol/file_index.h"
#include "unwind/file/elf_rows.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FAILURES 3 /* in a row; then a file is not opened again */

struct file_registry {
	int proc_fd; /* borrowed */
	bool wants_root; /* keep the root directory of a file's process open, too */
	uint32_t vdso;

	pthread_mutex_t lock;
	struct file_index files;
	uint32_t waiting[FILE_REGISTRY_MAX_OPEN]; /* in the order of their arrival */
	size_t nr_waiting;
	uint64_t nr_uses; /* of all files */
	uint64_t nr_open_failures;
	uint64_t nr_bad_files;
};

static void remove_waiting(struct file_registry *registry, size_t i)
{
	size_t nr_behind = --registry->nr_waiting - i;

	memmove(&registry->waiting[i], &registry->waiting[i + 1],
		nr_behind * sizeof(registry->waiting[0]));
}

static void release_victim(struct file_registry *registry, struct known_file *victim)
{
	for (size_t i = 0; i < registry->nr_waiting; i++)
		if (registry->waiting[i] == victim->id)
			remove_waiting(registry, i--);
	opened_file_close(&victim->opened);
	if (victim->content)
		victim->content->nr_files--;
	victim->content = NULL;
}

/* Returns whether another attempt may succeed: for example, the worker ran out of memory, or the
 * machine was busy. */
static bool is_passing(int error)
{
	return error != -EBADMSG && error != -ENOSPC;
}

/* Returns whether a file should be read again, because its content has dropped something, or
 * because it could not be read. */
static bool wants_reopening(const struct known_file *file)
{
	const struct elf_content *content = file->content;
	uint64_t since_ns = file->failed_ns;

	if (file->nr_failures >= MAX_FAILURES)
		return false;
	if (file->state == FILE_LOADED) {
		if (!content->wants_opening)
			return false;
		if (content->dropped_ns > since_ns)
			since_ns = content->dropped_ns;
	} else if (file->state != FILE_BAD) {
		return false;
	}
	return clock_mono_ns() - since_ns >= FILE_REGISTRY_REOPEN_NS;
}

static void use_file(struct file_registry *registry, struct known_file *file, uint64_t owner)
{
	file->last_use = ++registry->nr_uses;
	file_owners_add(&file->owners, owner);
	if (file->content)
		file_owners_add(&file->content->owners, owner);
}

/* Finds the file with that identity, or adds one. */
static int take_file(struct file_registry *registry, const struct file_identity *identity,
		     uint64_t owner, struct known_file **ret_file, bool *ret_is_new)
{
	struct known_file *file = file_index_find(&registry->files, identity);

	*ret_is_new = !file;
	if (!file) {
		struct known_file *victim = file_index_next_victim(&registry->files);

		if (victim)
			release_victim(registry, victim);
		int r = file_index_add(&registry->files, identity, &file);
		if (r < 0)
			return r;
	}
	use_file(registry, file, owner);
	*ret_file = file;
	return 0;
}

/* Returns whether another file of an owner may wait. */
static bool may_wait(const struct file_registry *registry, uint64_t owner)
{
	size_t nr = 0;

	for (size_t i = 0; i < registry->nr_waiting; i++)
		nr += file_index_get(&registry->files, registry->waiting[i])->owners.ids[0] ==
		      owner;
	return registry->nr_waiting < FILE_REGISTRY_MAX_OPEN &&
	       (owner == 0 || nr < FILE_REGISTRY_MAX_OPEN_EACH);
}

/* Lets an open file wait, unless another thread was faster. Takes `opened` over if the file waits
 * then. */
static int add_waiting(struct file_registry *registry, const struct file_identity *identity,
		       uint64_t owner, struct opened_file *opened, uint32_t *ret_id)
{
	struct known_file *file;
	bool is_new;
	LOCKED(&registry->lock);

	if (!may_wait(registry, owner))
		return -ENOSPC;
	int r = take_file(registry, identity, owner, &file, &is_new);
	if (r < 0)
		return r;
	if (is_new || wants_reopening(file)) {
		file->opened = *opened;
		*opened = OPENED_FILE_NONE;
		file->state = FILE_WAITING;
		registry->waiting[registry->nr_waiting++] = file->id;
	}
	*ret_id = file->id;
	return 0;
}

/* Finds the id of a known file that need not be opened; 0 if there is none. Errors: -ENOSPC no more
 * files may wait. */
static int find_known(struct file_registry *registry, const struct file_identity *identity,
		      uint64_t owner, uint32_t *ret_id)
{
	LOCKED(&registry->lock);
	struct known_file *file = file_index_find(&registry->files, identity);

	if (file)
		use_file(registry, file, owner);
	*ret_id = file && !wants_reopening(file) ? file->id : 0;
	return *ret_id == 0 && !may_wait(registry, owner) ? -ENOSPC : 0;
}

/* Opens the process's root directory, to find debug files after the process has exited. If this
 * fails, only the host is searched. */
static void open_root(struct file_registry *registry, uint32_t pid, struct opened_file *opened)
{
	if (!registry->wants_root)
		return;
	int r = file_opener_open_root(registry->proc_fd, pid, &opened->root_fd);
	(void)r; /* root_fd stays -EBADF */
}

static int open_pinned(struct file_registry *registry, uint64_t owner, uint32_t pid,
		       const char *path, const struct pinned_file *pinned, uint32_t *ret_id)
{
	_cleanup_(opened_file_close) struct opened_file opened = OPENED_FILE_NONE;
	uint32_t known_id;

	int r = find_known(registry, &pinned->identity, owner, &known_id);
	if (r < 0)
		return r;
	if (known_id != 0) {
		*ret_id = known_id;
		return 0;
	}

	r = file_opener_open(registry->proc_fd, pid, pinned, &opened.fd);
	if (r < 0)
		return r;
	open_root(registry, pid, &opened);
	opened.path = path ? strdup(path) : NULL;
	return add_waiting(registry, &pinned->identity, owner, &opened, ret_id);
}

int file_registry_open(struct file_registry *registry, uint64_t owner, uint32_t pid,
		       const struct mapping *mapping, uint32_t *ret_id)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };

	int r = file_opener_pin(registry->proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = open_pinned(registry, owner, pid, mapping->file->path, &pinned, ret_id);
	if (r < 0) {
		LOCKED(&registry->lock);
		registry->nr_open_failures++;
	}
	return r;
}

int file_registry_open_file(struct file_registry *registry, uint64_t owner, const char *path,
			    int *fd, uint32_t *ret_id)
{
	_cleanup_(opened_file_close) struct opened_file opened = { .fd = take_fd(*fd),
								   .root_fd = -EBADF };
	struct pinned_file pinned;
	uint32_t known_id = 0;

	int r = file_opener_look_at(opened.fd, &pinned);
	if (r == 0)
		r = find_known(registry, &pinned.identity, owner, &known_id);
	if (r < 0)
		return r;
	if (known_id != 0) {
		*ret_id = known_id;
		return 0;
	}
	opened.path = path ? strdup(path) : NULL;
	return add_waiting(registry, &pinned.identity, owner, &opened, ret_id);
}

static void open_vdso(struct file_registry *registry)
{
	_cleanup_(opened_file_close) struct opened_file opened = OPENED_FILE_NONE;
	struct pinned_file pinned;

	if (elf_rows_open_vdso(&opened.fd) < 0 || file_opener_look_at(opened.fd, &pinned) < 0)
		return;
	int r = add_waiting(registry, &pinned.identity, 0, &opened, &registry->vdso);
	(void)r; /* `vdso` stays 0: frames in it have no names */
}

int file_registry_new(const struct elf_cache_opts *opts, struct file_registry **ret_registry)
{
	struct file_registry *registry = calloc(1, sizeof(*registry));

	if (!registry)
		return -ENOMEM;
	registry->proc_fd = opts->proc_fd;
	registry->wants_root = opts->debug_files.host_root_fd >= 0;
	pthread_mutex_init(&registry->lock, NULL);
	open_vdso(registry);
	*ret_registry = registry;
	return 0;
}

void file_registry_free(struct file_registry *registry)
{
	if (!registry)
		return;
	file_index_done(&registry->files);
	pthread_mutex_destroy(&registry->lock);
	free(registry);
}

/* Returns whether a file is read before another one of the same rank. */
static bool is_before(const struct known_file *file, const struct known_file *other, bool oldest)
{
	return !oldest && file->identity.size < other->identity.size;
}

/* Finds the place in the list of the file that a lane reads next: of the files with the best rank,
 * the oldest or the smallest one, as small files take less time. Returns false if there is none. */
static bool find_next(const struct file_registry *registry, const struct worker_lanes *lanes,
		      enum worker_lane lane, bool oldest, size_t *ret_place)
{
	const struct known_file *best = NULL;
	enum worker_rank best_rank = WORKER_RANK_LATE;
	uint64_t now_ns = clock_mono_ns();

	for (size_t i = 0; i < registry->nr_waiting; i++) {
		const struct known_file *file = file_index_get(&registry->files,
							       registry->waiting[i]);

		if (file_owners_lane(&file->owners, lanes, now_ns) != lane)
			continue;
		enum worker_rank rank = file_owners_rank(&file->owners, lanes, now_ns);
		if (best &&
		    (rank > best_rank || (rank == best_rank && !is_before(file, best, oldest))))
			continue;
		best = file;
		best_rank = rank;
		*ret_place = i;
	}
	return best != NULL;
}

bool file_registry_take(struct file_registry *registry, const struct worker_lanes *lanes,
			enum worker_lane lane, bool oldest, struct file_to_read *ret_file)
{
	size_t i = 0;
	LOCKED(&registry->lock);

	if (!find_next(registry, lanes, lane, oldest, &i))
		return false;
	struct known_file *file = file_index_get(&registry->files, registry->waiting[i]);
	remove_waiting(registry, i);
	*ret_file = (struct file_to_read){
		.id = file->id,
		.owners = file->owners,
		.identity = file->identity,
		.opened = file->opened,
	};
	file->opened = OPENED_FILE_NONE;
	file->state = FILE_LOADING;
	return true;
}

bool file_registry_put_back(struct file_registry *registry, struct file_to_read *file)
{
	LOCKED(&registry->lock);
	struct known_file *known = file_index_get(&registry->files, file->id);

	if (!known || registry->nr_waiting == FILE_REGISTRY_MAX_OPEN)
		return false;
	known->opened = file->opened;
	file->opened = OPENED_FILE_NONE;
	known->state = FILE_WAITING;
	registry->waiting[registry->nr_waiting++] = known->id;
	return true;
}

void file_registry_fail(struct file_registry *registry, uint32_t id, int error)
{
	LOCKED(&registry->lock);
	struct known_file *file = file_index_get(&registry->files, id);

	registry->nr_bad_files++;
	file->state = file->content ? FILE_LOADED : FILE_BAD;
	file->error = error;
	file->failed_ns = clock_mono_ns();
	file->nr_failures = is_passing(error) ? file->nr_failures + 1 : MAX_FAILURES;
}

void file_registry_finish(struct file_registry *registry, uint32_t id, struct elf_content *content)
{
	LOCKED(&registry->lock);
	struct known_file *file = file_index_get(&registry->files, id);

	if (file->content)
		file->content->nr_files--;
	content->nr_files++;
	file_owners_merge(&content->owners, &file->owners);
	content->wants_opening = false;
	if (file->last_use > content->last_use)
		content->last_use = file->last_use;
	file->content = content;
	file->state = FILE_LOADED;
	file->nr_failures = 0;
}

int file_registry_use(struct file_registry *registry, uint32_t id, struct name_table **ret_table,
		      bool *ret_is_waited_for)
{
	LOCKED(&registry->lock);
	struct known_file *file = file_index_get(&registry->files, id);

	if (!file)
		return -ENOENT;
	file->last_use = ++registry->nr_uses;
	if (file->content)
		file->content->last_use = file->last_use;
	if (file->state == FILE_BAD)
		return file->error;
	*ret_table = file->content ? file->content->table : NULL;
	*ret_is_waited_for = file->state != FILE_LOADED;
	return 0;
}

struct name_table *file_registry_find_table(struct file_registry *registry, uint32_t id)
{
	LOCKED(&registry->lock);
	const struct known_file *file = file_index_get(&registry->files, id);

	return file && file->content ? file->content->table : NULL;
}

void file_registry_drop(struct file_registry *registry, struct elf_content *content,
			uint64_t dropped_ns)
{
	LOCKED(&registry->lock);

	content->wants_opening = true;
	content->dropped_ns = dropped_ns;
}

bool file_registry_has_dropped(struct file_registry *registry, const struct elf_content *content)
{
	LOCKED(&registry->lock);

	return content->wants_opening;
}

bool file_registry_has_files(struct file_registry *registry, const struct elf_content *content)
{
	LOCKED(&registry->lock);

	return content->nr_files > 0;
}

struct file_owners file_registry_owners(struct file_registry *registry,
					const struct elf_content *content)
{
	LOCKED(&registry->lock);

	return content->owners;
}

uint32_t file_registry_vdso(const struct file_registry *registry)
{
	return registry->vdso;
}

bool file_registry_wants_file(struct file_registry *registry, uint32_t id)
{
	LOCKED(&registry->lock);
	const struct known_file *file = file_index_get(&registry->files, id);

	return !file || wants_reopening(file);
}

uint64_t file_registry_size(struct file_registry *registry, uint32_t id)
{
	LOCKED(&registry->lock);
	const struct known_file *file = file_index_get(&registry->files, id);

	return file ? file->identity.size : 0;
}

struct file_registry_stats file_registry_get_stats(struct file_registry *registry)
{
	LOCKED(&registry->lock);

	return (struct file_registry_stats){
		.nr_files = registry->files.nr_slots,
		.nr_waiting = registry->nr_waiting,
		.nr_open_failures = registry->nr_open_failures,
		.nr_bad_files = registry->nr_bad_files,
	};
}

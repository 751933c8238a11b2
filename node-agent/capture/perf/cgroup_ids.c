/* SPDX-License-Identifier: Apache-2.0 */
/* A path is walked from the root, with a row for each directory on the way, so that each row
 * knows its parent. A directory may be removed and made again with another inode. So its inode
 * number is looked up at each query by path, which happens once for each task and then every few
 * seconds. */
#include "capture/perf/cgroup_ids.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/htable.h"
#include "cgroup/cgroup_fs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH_BYTES ((size_t)4 << 20) /* of all paths */

struct cgroup_row {
	char *path; /* owned */
	uint64_t id;
	uint32_t parent;
	bool is_told; /* its creation was reported */
};

struct cgroup_ids {
	const struct cgroup_fs *fs; /* borrowed */
	struct cgroup_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	size_t path_bytes;
	size_t next_birth; /* rows before it have been reported */
	struct htable by_path;
	uint64_t generation;
};

int cgroup_ids_new(const struct cgroup_fs *fs, struct cgroup_ids **ret_ids)
{
	struct cgroup_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	ids->fs = fs;
	*ret_ids = ids;
	return 0;
}

static void forget_all(struct cgroup_ids *ids)
{
	for (size_t i = 0; i < ids->nr_rows; i++)
		free(ids->rows[i].path);
	htable_clear(&ids->by_path);
	ids->nr_rows = 0;
	ids->path_bytes = 0;
	ids->next_birth = 0;
	ids->generation++;
}

void cgroup_ids_free(struct cgroup_ids *ids)
{
	if (!ids)
		return;
	forget_all(ids);
	htable_done(&ids->by_path);
	free(ids->rows);
	free(ids);
}

static uint32_t find_row(const struct cgroup_ids *ids, const char *path, uint32_t hash)
{
	struct htable_iter it = htable_lookup(&ids->by_path, hash);

	for (uint32_t row; htable_next(&it, &row);)
		if (strcmp(ids->rows[row].path, path) == 0)
			return row;
	return CGROUP_IDS_NONE;
}

static uint32_t add_row(struct cgroup_ids *ids, const char *path, uint32_t hash,
			const struct cgroup_row *row)
{
	if (array_grow(ids->rows, ids->cap_rows, ids->nr_rows + 1, CGROUP_IDS_MAX) < 0)
		return CGROUP_IDS_NONE;
	_cleanup_free_ char *copy = strdup(path);
	if (!copy || htable_add(&ids->by_path, hash, (uint32_t)ids->nr_rows) < 0)
		return CGROUP_IDS_NONE;
	ids->rows[ids->nr_rows] = *row;
	ids->rows[ids->nr_rows].path = take_ptr(copy);
	ids->path_bytes += strlen(path) + 1;
	return (uint32_t)ids->nr_rows++;
}

/* Finds or adds the row of one directory on the path. A directory that was removed keeps its id. */
static uint32_t step(struct cgroup_ids *ids, const char *path, uint32_t parent, bool must_look)
{
	uint32_t hash = hash_bytes(path, strlen(path));
	uint32_t number = find_row(ids, path, hash);
	struct cgroup_row row = { .parent = parent };

	if (number != CGROUP_IDS_NONE && !must_look)
		return number;
	int r = cgroup_fs_id(ids->fs, path, &row.id);
	if (number == CGROUP_IDS_NONE)
		return r < 0 ? CGROUP_IDS_NONE : add_row(ids, path, hash, &row);
	if (r == 0 && ids->rows[number].id != row.id) {
		ids->rows[number].id = row.id;
		ids->rows[number].is_told = false;
		if (ids->next_birth > number)
			ids->next_birth = number;
	}
	return number;
}

/* Returns whether a path leads out of the root ("/../"), as the path of a task outside our cgroup
 * namespace does. */
static bool has_parent_step(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/..")) != NULL; at += 3)
		if (at[3] == '/' || at[3] == '\0')
			return true;
	return false;
}

/* Steps through the path. `path` is truncated at each slash in turn, and restored. */
static uint32_t walk(struct cgroup_ids *ids, char *path)
{
	uint32_t number = step(ids, "/", CGROUP_IDS_NONE, path[1] == '\0');
	unsigned int depth = 0;

	for (char *slash = path; number != CGROUP_IDS_NONE && slash[1];) {
		char *next = strchrnul(slash + 1, '/');
		char kept = *next;

		if (++depth >= CGROUP_IDS_MAX_DEPTH)
			return CGROUP_IDS_NONE;
		*next = '\0';
		number = step(ids, path, number, kept == '\0');
		*next = kept;
		if (kept == '\0')
			break;
		slash = next;
	}
	return number;
}

uint32_t cgroup_ids_get(struct cgroup_ids *ids, const char *path, size_t len)
{
	char copy[CGROUP_PATH_MAX];

	if (len == 0 || len >= sizeof(copy) || path[0] != '/')
		return CGROUP_IDS_NONE;
	memcpy(copy, path, len);
	copy[len] = '\0';
	if (has_parent_step(copy))
		return CGROUP_IDS_NONE;
	if (ids->nr_rows > CGROUP_IDS_MAX - CGROUP_IDS_MAX_DEPTH ||
	    ids->path_bytes > MAX_PATH_BYTES)
		forget_all(ids);
	return walk(ids, copy);
}

uint64_t cgroup_ids_generation(const struct cgroup_ids *ids)
{
	return ids->generation;
}

uint64_t cgroup_ids_id(const struct cgroup_ids *ids, uint32_t number)
{
	return number < ids->nr_rows ? ids->rows[number].id : 0;
}

enum cgroup_verdict cgroup_ids_verdict(const struct cgroup_ids *ids, uint32_t number,
				       const struct verdict_slots *verdicts,
				       enum cgroup_verdict fallback)
{
	if (number >= ids->nr_rows)
		return CGROUP_UNDECIDED;
	for (; number != CGROUP_IDS_NONE; number = ids->rows[number].parent) {
		enum cgroup_verdict verdict = verdict_slots_get(verdicts, ids->rows[number].id);

		if (verdict != CGROUP_UNFILTERED)
			return verdict;
	}
	return fallback;
}

bool cgroup_ids_next_birth(struct cgroup_ids *ids, struct cgroup_event *ret_event)
{
	while (ids->next_birth < ids->nr_rows && ids->rows[ids->next_birth].is_told)
		ids->next_birth++;
	if (ids->next_birth == ids->nr_rows)
		return false;

	struct cgroup_row *row = &ids->rows[ids->next_birth++];
	size_t path_bytes = strlen(row->path) + 1;
	ret_event->time_ns = clock_mono_ns();
	ret_event->id = row->id;
	ret_event->kind = CGROUP_BORN;
	ret_event->path_bytes = (uint32_t)path_bytes;
	memcpy(ret_event->path, row->path, path_bytes);
	row->is_told = true;
	return true;
}

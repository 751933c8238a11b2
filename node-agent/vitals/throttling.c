/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/throttling.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/minmax.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#define LIMIT_INTERVAL_S 60 /* limits change seldom */

struct throttled_cgroup {
	uint64_t id;
	struct cpu_limit limit;
	struct cpu_throttling last; /* valid with has_last, as is the next */
	uint64_t last_s; /* when it was read */
	uint64_t seen_s; /* last sample */
	uint64_t next_read_s;
	uint64_t next_limit_s; /* when the limit is looked for again */
	bool has_last;
};

void throttling_init(struct throttling *throttling, const struct cgroup_fs *fs)
{
	int root_fd = open(cgroup_fs_root(fs), O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* Where ids are those of v2, or of v1's memory, the limits may be in v1's hierarchy for
	 * CPUs, which has the same paths. */
	int cpu_fd = root_fd < 0 ? -EBADF
				 : openat(root_fd, "../cpu", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*throttling = (struct throttling){ .fs = fs, .root_fds = { root_fd, cpu_fd } };
}

void throttling_done(struct throttling *throttling)
{
	for (size_t i = 0; i < throttling->nr; i++)
		cpu_limit_close(&throttling->cgroups[i].limit);
	free(throttling->cgroups);
	for (size_t i = 0; i < array_len(throttling->root_fds); i++)
		cleanup_closep(&throttling->root_fds[i]);
}

static struct throttled_cgroup *find(struct throttling *throttling, uint64_t cgroup_id)
{
	for (size_t i = 0; i < throttling->nr; i++)
		if (throttling->cgroups[i].id == cgroup_id)
			return &throttling->cgroups[i];
	return NULL;
}

void throttling_see(struct throttling *throttling, uint64_t cgroup_id, uint64_t now_s)
{
	struct throttled_cgroup *cgroup = find(throttling, cgroup_id);

	if (cgroup) {
		cgroup->seen_s = now_s;
		return;
	}
	if (array_grow(throttling->cgroups, throttling->cap, throttling->nr + 1,
		       THROTTLING_MAX_CGROUPS) < 0) {
		throttling->nr_ignored++;
		return;
	}
	throttling->cgroups[throttling->nr++] = (struct throttled_cgroup){
		.id = cgroup_id,
		.limit.stat_fd = -EBADF,
		.seen_s = now_s,
	};
}

static int find_limit(const struct throttling *throttling, uint64_t cgroup_id,
		      struct cpu_limit *ret_limit)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX);
	int r = cgroup_fs_path(throttling->fs, cgroup_id, &path);

	if (r < 0)
		return r;
	for (size_t i = 0; i < array_len(throttling->root_fds); i++) {
		r = throttling->root_fds[i] < 0
			    ? -ENOENT
			    : cpu_limit_find(throttling->root_fds[i], strbuf_str(&path), ret_limit);
		if (r == 0)
			return 0;
	}
	return r;
}

/* Returns whether another cgroup has the same limit. */
static bool is_shared(const struct throttling *throttling, const struct throttled_cgroup *cgroup)
{
	for (size_t i = 0; i < throttling->nr; i++) {
		const struct throttled_cgroup *other = &throttling->cgroups[i];

		if (other != cgroup && other->limit.stat_fd >= 0 &&
		    other->limit.inode == cgroup->limit.inode &&
		    other->limit.device == cgroup->limit.device)
			return true;
	}
	return false;
}

static void renew_limit(struct throttling *throttling, struct throttled_cgroup *cgroup,
			uint64_t now_s)
{
	struct cpu_limit limit = { .stat_fd = -EBADF }, old = cgroup->limit;

	cgroup->next_limit_s = now_s + LIMIT_INTERVAL_S;
	if (find_limit(throttling, cgroup->id, &limit) < 0)
		limit.stat_fd = -EBADF;
	if (limit.stat_fd < 0 || limit.inode != old.inode || limit.device != old.device)
		cgroup->has_last = false;
	cgroup->limit = limit;
	cpu_limit_close(&old);
	if (limit.stat_fd >= 0 && is_shared(throttling, cgroup))
		cpu_limit_close(&cgroup->limit);
}

/* Returns of how many seconds the increase is; 0 if there is none. */
static uint32_t read_one(struct throttled_cgroup *cgroup, uint64_t now_s,
			 struct cpu_throttling *ret_increase)
{
	struct cpu_throttling now, last = cgroup->last;

	if (cpu_limit_read(&cgroup->limit, &now) < 0)
		return 0;
	bool is_held_up = cgroup->has_last && now.throttled_ns > last.throttled_ns;
	uint32_t nr_seconds = is_held_up ? (uint32_t)max_u64(now_s - cgroup->last_s, 1) : 0;
	cgroup->last = now;
	cgroup->last_s = now_s;
	cgroup->has_last = true;
	ret_increase->throttled_ns = now.throttled_ns - last.throttled_ns;
	ret_increase->nr_throttled = now.nr_throttled > last.nr_throttled
					     ? now.nr_throttled - last.nr_throttled
					     : 0;
	return nr_seconds;
}

static void forget_old(struct throttling *throttling, uint64_t now_s)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < throttling->nr; i++) {
		struct throttled_cgroup *cgroup = &throttling->cgroups[i];

		if (cgroup->seen_s + THROTTLING_FORGET_S >= now_s)
			throttling->cgroups[nr_kept++] = *cgroup;
		else
			cpu_limit_close(&cgroup->limit);
	}
	throttling->nr = nr_kept;
}

static void look_at(struct throttling *throttling, struct throttled_cgroup *cgroup, uint64_t now_s,
		    throttling_visit visit, void *data)
{
	struct cpu_throttling increase;
	uint32_t nr_seconds;

	if (now_s >= cgroup->next_limit_s)
		renew_limit(throttling, cgroup, now_s);
	cgroup->next_read_s = now_s + THROTTLING_INTERVAL_S;
	if (cgroup->limit.stat_fd < 0)
		return;
	nr_seconds = read_one(cgroup, now_s, &increase);
	if (nr_seconds == 0)
		return;
	cgroup->next_read_s = now_s + 1;
	visit(cgroup->id, &increase, nr_seconds, data);
}

void throttling_read(struct throttling *throttling, uint64_t now_s, throttling_visit visit,
		     void *data)
{
	unsigned int nr_reads = 0;

	forget_old(throttling, now_s);
	for (size_t i = 0; i < throttling->nr && nr_reads < THROTTLING_MAX_READS; i++) {
		struct throttled_cgroup *cgroup =
			&throttling->cgroups[throttling->next++ % throttling->nr];

		if (now_s < cgroup->next_read_s)
			continue;
		look_at(throttling, cgroup, now_s, visit, data);
		nr_reads++;
	}
	throttling->next = throttling->nr ? throttling->next % throttling->nr : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "process/proc_stat.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STAT_MAX_BYTES 4096
#define STATE_FIELD 3
#define FLAGS_FIELD 9
#define NR_THREADS_FIELD 20
#define START_FIELD 22
#define KERNEL_THREAD_FLAG 0x00200000 /* PF_KTHREAD */

/* The name is in parentheses and may hold blanks and parentheses itself: fields are counted from
 * the last ")". */
int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret_stat)
{
	const char *end = text + len;
	const char *c = len > 0 ? memrchr(text, ')', len) : NULL;
	struct proc_stat stat = { 0 };

	if (!c || end - c < 3 || c[1] != ' ' || c[2] < 'A' || c[2] > 'z')
		return -EBADMSG;
	stat.state = c[2];
	c += 3;
	for (unsigned int field = STATE_FIELD + 1; field <= START_FIELD; field++) {
		uint64_t value;

		if (c == end || *c++ != ' ')
			return -EBADMSG;
		if (c < end && *c == '-')
			c++;
		if (parse_digits(&c, end, 10, &value) < 0)
			return -EBADMSG;
		if (field == FLAGS_FIELD)
			stat.flags = value;
		if (field == NR_THREADS_FIELD)
			stat.nr_threads = value;
		if (field == START_FIELD)
			stat.start_ticks = value;
	}
	*ret_stat = stat;
	return 0;
}

static int read_stat(int dir_fd, const char *path, struct proc_stat *ret_stat)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(STAT_MAX_BYTES);

	int r = file_read_at(dir_fd, path, &text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	return proc_stat_parse(strbuf_str(&text), text.len, ret_stat);
}

int proc_stat_read(int proc_fd, uint32_t pid, struct proc_stat *ret_stat)
{
	char path[32];

	snprintf(path, sizeof(path), "%u/stat", pid);
	return read_stat(proc_fd, path, ret_stat);
}

int proc_stat_read_at(int dir_fd, struct proc_stat *ret_stat)
{
	return read_stat(dir_fd, "stat", ret_stat);
}

bool proc_stat_is_kernel_thread(const struct proc_stat *stat)
{
	return stat->flags & KERNEL_THREAD_FLAG;
}

bool proc_stat_is_leader_dead(const struct proc_stat *stat)
{
	return stat->state == 'Z' || stat->state == 'X';
}

bool proc_stat_is_zombie(const struct proc_stat *stat)
{
	return proc_stat_is_leader_dead(stat) && stat->nr_threads <= 1;
}

bool proc_stat_started_at(const struct proc_stat *stat, uint64_t start_ns)
{
	uint64_t ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ticks = start_ns / (NSEC_PER_SEC / ticks_per_s);

	return ticks <= stat->start_ticks + 1 && stat->start_ticks <= ticks + 1;
}

int proc_stat_verify_start(int proc_fd, uint32_t pid, uint64_t start_ns)
{
	struct proc_stat stat;

	if (start_ns == 0)
		return 0;
	int r = proc_stat_read(proc_fd, pid, &stat);
	if (r < 0)
		return r;
	return proc_stat_started_at(&stat, start_ns) ? 0 : -ESRCH;
}

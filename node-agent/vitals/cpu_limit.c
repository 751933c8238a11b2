/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/cpu_limit.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "base/strview.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES 4096
#define MAX_LEVELS 16 /* of cgroups above one */

static const char *const limit_files[] = { "cpu.max", "cpu.cfs_quota_us" };

static bool take_value(struct strview line, const char *key, uint64_t factor, uint64_t *value)
{
	struct strview digits = strview_without_prefix(line, key);
	const char *c = digits.text;
	uint64_t number;

	return digits.len < line.len &&
	       parse_digits(&c, digits.text + digits.len, 10, &number) == 0 &&
	       !__builtin_mul_overflow(number, factor, value);
}

void cpu_limit_parse_stat(const char *text, size_t len, struct cpu_throttling *ret_throttling)
{
	struct cpu_throttling throttling = { 0 };
	struct strview rest = { text, len }, line;

	while (strview_next(&rest, '\n', &line)) {
		uint64_t value;

		if (take_value(line, "nr_throttled ", 1, &value))
			throttling.nr_throttled = value;
		else if (take_value(line, "throttled_usec ", NSEC_PER_USEC, &value) ||
			 take_value(line, "throttled_time ", 1, &value))
			throttling.throttled_ns = value;
	}
	*ret_throttling = throttling;
}

/* "max 100000" and "-1" are no limits, "50000 100000" and "50000" are. */
bool cpu_limit_is_set(const char *text, size_t len)
{
	const char *c = text;
	uint64_t number;

	return parse_digits(&c, text + len, 10, &number) == 0;
}

static ssize_t read_at(int dir_fd, const char *name, char text[static TEXT_BYTES])
{
	_cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : pread(fd, text, TEXT_BYTES, 0);
}

/* Returns 1 if the cgroup has a limit, 0 if not; -ENOENT if it cannot have one. */
static int has_limit(int dir_fd)
{
	char text[TEXT_BYTES];

	for (size_t i = 0; i < array_len(limit_files); i++) {
		ssize_t len = read_at(dir_fd, limit_files[i], text);

		if (len >= 0)
			return cpu_limit_is_set(text, (size_t)len);
	}
	return -ENOENT;
}

static int open_limit(int dir_fd, struct cpu_limit *ret_limit)
{
	struct stat status;

	if (fstat(dir_fd, &status) < 0)
		return -errno;
	int fd = openat(dir_fd, "cpu.stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_limit = (struct cpu_limit){ fd, status.st_dev, status.st_ino };
	return 0;
}

/* Removes the last part of a path; false if there is none. */
static bool cut_last_part(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

int cpu_limit_find(int root_fd, const char *path, struct cpu_limit *ret_limit)
{
	char part[PATH_MAX];

	/* "." is below the mount point, too, if the path is that of the root itself. */
	if (snprintf(part, sizeof(part), ".%s", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	for (unsigned int level = 0; level < MAX_LEVELS; level++) {
		_cleanup_close_ int fd = openat(root_fd, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
		int r = fd < 0 ? -errno : has_limit(fd);

		if (r > 0)
			return open_limit(fd, ret_limit);
		if (r < 0 && level == 0)
			return r;
		if (!cut_last_part(part))
			break;
	}
	*ret_limit = (struct cpu_limit){ .stat_fd = -EBADF };
	return 0;
}

int cpu_limit_read(const struct cpu_limit *limit, struct cpu_throttling *ret_throttling)
{
	char text[TEXT_BYTES];
	ssize_t len = pread(limit->stat_fd, text, sizeof(text), 0);

	if (len < 0)
		return -errno;
	cpu_limit_parse_stat(text, (size_t)len, ret_throttling);
	return 0;
}

void cpu_limit_close(struct cpu_limit *limit)
{
	cleanup_closep(&limit->stat_fd);
	limit->stat_fd = -EBADF;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_files.h"

#include "base/cleanup.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 4096
/* All that the first version of Landlock knows. */
#define ALL_ACCESS ((uint64_t)(LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* The C library has no functions for these calls. */
static int make_ruleset(void)
{
	const struct landlock_ruleset_attr attr = { .handled_access_fs = ALL_ACCESS };
	long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd >= 0)
		return (int)fd;
	/* EPERM: the filter of a container's system calls is older than this one. */
	return errno == ENOSYS || errno == EPERM ? -EOPNOTSUPP : -errno;
}

/* Permits reading a file, or what is below a directory. What cannot be found cannot be read. */
static int permit(int ruleset, const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr attr = { .parent_fd = fd };
	struct stat status;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) < 0)
		return -errno;
	attr.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
	if (S_ISDIR(status.st_mode))
		attr.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0
		       ? -errno
		       : 0;
}

/* A file that is being written has two others beside it. */
static int permit_with_logs(int ruleset, const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	char name[PATH_BYTES];
	int r = 0;

	for (size_t i = 0; r == 0 && i < array_len(suffixes); i++) {
		if (snprintf(name, sizeof(name), "%s%s", path, suffixes[i]) >= PATH_BYTES)
			return -ENAMETOOLONG;
		r = permit(ruleset, name);
	}
	return r;
}

int ui_files_confine(const char *const *paths, size_t nr_paths)
{
	if (WORKER_PROCESS_IS_SANITIZED)
		return 0;
	_cleanup_close_ int ruleset = make_ruleset();
	int r = ruleset < 0 ? ruleset : 0;
	for (size_t i = 0; r == 0 && i < nr_paths; i++)
		r = permit_with_logs(ruleset, paths[i]);
	if (r < 0)
		return r;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_files.h"

#include "base/cleanup.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <glob.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* All that the first version of Landlock knows, without reading. */
#define CHANGES                                                                                    \
	(((uint64_t)(LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1) &                                      \
	 ~(uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR))

/* Directories of devices, such as nvidia-caps, have their own files. */
static const char *const patterns[] = { "/dev/null", "/dev/nvidia*", "/dev/nvidia*/*" };

/* The C library has no functions for these calls. */
static int make_ruleset(void)
{
	const struct landlock_ruleset_attr attr = { .handled_access_fs = CHANGES };
	long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd >= 0)
		return (int)fd;
	/* EPERM: the filter of a container's system calls is older than this one. */
	return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? -EOPNOTSUPP : -errno;
}

static int permit(int ruleset, const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	const struct landlock_path_beneath_attr attr = {
		.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE,
		.parent_fd = fd,
	};

	if (fd < 0)
		return 0;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0
		       ? -errno
		       : 0;
}

static int permit_all(int ruleset, const char *pattern)
{
	glob_t found;
	int r = glob(pattern, 0, NULL, &found);

	if (r != 0)
		return r == GLOB_NOSPACE ? -ENOMEM : 0;
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = permit(ruleset, found.gl_pathv[i]);
	globfree(&found);
	return r;
}

int gpu_files_confine(void)
{
	if (WORKER_PROCESS_IS_SANITIZED)
		return 0;
	_cleanup_close_ int ruleset = make_ruleset();
	int r = ruleset < 0 ? ruleset : 0;
	for (size_t i = 0; r == 0 && i < array_len(patterns); i++)
		r = permit_all(ruleset, patterns[i]);
	if (r < 0)
		return r;
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? -errno : 0;
}

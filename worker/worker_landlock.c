/* SPDX-License-Identifier: Apache-2.0 */
/* The C library has no functions for these calls. */
#include "worker/worker_landlock.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int worker_landlock_new(uint64_t rights)
{
	const struct landlock_ruleset_attr attr = { .handled_access_fs = rights };
	long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);

	if (fd >= 0)
		return (int)fd;
	/* EPERM: the filter of a container's system calls is older than this one. */
	return errno == ENOSYS || errno == EPERM ? -EOPNOTSUPP : -errno;
}

int worker_landlock_permit(int rules, const char *path, uint64_t rights, uint64_t directory_rights)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr attr = { .allowed_access = rights, .parent_fd = fd };
	struct stat status;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		attr.allowed_access |= directory_rights;
	return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0
		       ? -errno
		       : 0;
}

int worker_landlock_enforce(int rules)
{
	return syscall(SYS_landlock_restrict_self, rules, 0) < 0 ? -errno : 0;
}

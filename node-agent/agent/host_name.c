/* SPDX-License-Identifier: Apache-2.0 */
/* A container has a name of its own, in a UTS namespace of its own. With the host's process IDs
 * process 1 is the host's, and its namespace and its files are those of the host. */
#include "agent/host_name.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/resolve.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES 4096
#define NAMESPACE_SIZE 64

static bool read_namespace(int proc_fd, const char *path, char ret_name[static NAMESPACE_SIZE])
{
	ssize_t len = readlinkat(proc_fd, path, ret_name, NAMESPACE_SIZE - 1);

	ret_name[len > 0 ? len : 0] = '\0';
	return len > 0;
}

/* Returns whether process 1 is in another UTS namespace, which may have another name. If we may not
 * look, this is not the chart's container, which has CAP_SYS_PTRACE. */
static bool has_own_name(int proc_fd)
{
	char ours[NAMESPACE_SIZE], hosts[NAMESPACE_SIZE];

	return read_namespace(proc_fd, "self/ns/uts", ours) &&
	       read_namespace(proc_fd, "1/ns/uts", hosts) && strcmp(ours, hosts) != 0;
}

/* Reads the first word of a file; see hostname(5). Returns whether there is one. */
static bool read_name(int proc_fd, const char *path, char ret_name[static HOST_NAME_SIZE])
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FILE_MAX_BYTES);

	if (file_read_at(proc_fd, path, &text) < 0)
		return false;
	const char *name = strbuf_str(&text);
	while (name[0] == '#' || isspace((unsigned char)name[0]))
		name += name[0] == '#' ? strcspn(name, "\n") : 1;
	size_t len = strcspn(name, " \t\r\n");
	if (len == 0 || len >= HOST_NAME_SIZE)
		return false;
	snprintf(ret_name, HOST_NAME_SIZE, "%.*s", (int)len, name);
	return true;
}

/* Reads /etc/hostname in the root directory of process 1, if it is a regular file there. Links are
 * followed as in that root. */
static bool read_name_in_root(int proc_fd, char ret_name[static HOST_NAME_SIZE])
{
	char path[NAMESPACE_SIZE];
	struct stat st;

	_cleanup_close_ int root_fd = openat(proc_fd, "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return false;
	_cleanup_close_ int fd = resolve_open(root_fd, "etc/hostname", O_PATH,
					      RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return read_name(AT_FDCWD, path, ret_name);
}

void host_name_find(int proc_fd, const char *node_name, char ret_name[static HOST_NAME_SIZE])
{
	ret_name[0] = '\0';
	if (node_name && node_name[0])
		snprintf(ret_name, HOST_NAME_SIZE, "%s", node_name);
	else if (!has_own_name(proc_fd) || !read_name_in_root(proc_fd, ret_name))
		(void)read_name(proc_fd, "sys/kernel/hostname", ret_name);
}

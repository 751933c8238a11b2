/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_list.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

struct kernel_symbols *kernel_list_read(const char *list)
{
	char dir[] = "/tmp/flamelet-kernel-XXXXXX", path[64];
	struct kernel_symbols *symbols;
	int error;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	assert_int_equal(file_write_atomic(path, list, strlen(list)), 0);
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(kernel_symbols_new(fd, 0, &error, &symbols), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	return symbols;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tested_path.h"

#include "k8s/cgroup_fs.h"

#include <fcntl.h>
#include <string.h>

#include "unit.h"

enum capture_path tested_path = CAPTURE_BPF;

static int proc_fd = -EBADF;
static struct cgroup_fs *cgroups;

void tested_path_choose(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "perf") != 0)
		return;
	tested_path = CAPTURE_PERF;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc_fd >= 0);
	assert_int_equal(cgroup_fs_open(NULL, &cgroups), 0);
}

void tested_path_apply(struct capture_opts *opts)
{
	opts->path = tested_path;
	if (tested_path != CAPTURE_PERF)
		return;
	opts->stack_copy_bytes = TESTED_STACK_BYTES;
	opts->proc_fd = proc_fd;
	opts->cgroup_fs = cgroups;
	opts->cgroup_hierarchy = cgroup_fs_hierarchy(cgroups);
}

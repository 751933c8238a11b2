/* SPDX-License-Identifier: Apache-2.0 */
#include "tested_backend.h"

#include "capture/bpf/capture_bpf.h"
#include "capture/perf/capture_perf.h"
#include "cgroup/cgroup_fs.h"

#include <fcntl.h>
#include <string.h>

#include "unit.h"

enum capture_backend tested_backend = CAPTURE_BPF;

static int proc_fd = -EBADF;
static struct cgroup_fs *cgroups;

void tested_backend_choose(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "perf") != 0)
		return;
	tested_backend = CAPTURE_PERF;
	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(proc_fd >= 0);
	assert_int_equal(cgroup_fs_open(NULL, &cgroups), 0);
}

int tested_backend_open(struct capture_opts opts, struct strbuf *reterr_msg,
			struct sample_source **ret_source)
{
	if (tested_backend == CAPTURE_BPF)
		return capture_bpf_open(&opts, reterr_msg, ret_source);
	opts.stack_copy_bytes = TESTED_STACK_BYTES;
	opts.proc_fd = proc_fd;
	opts.cgroup_fs = cgroups;
	opts.cgroup_hierarchy = cgroup_fs_hierarchy(cgroups);
	return capture_perf_open(&opts, reterr_msg, ret_source);
}

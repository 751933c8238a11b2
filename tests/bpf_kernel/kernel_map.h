/* SPDX-License-Identifier: Apache-2.0 */
/* Finds maps of the BPF programs that this process has loaded. */
#ifndef TESTS_BPF_KERNEL_KERNEL_MAP_H
#define TESTS_BPF_KERNEL_KERNEL_MAP_H

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_MAP_MAX_FD 1024

static inline bool kernel_map_is_one(int fd)
{
	char path[32], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 &&
	       strcmp(target, "anon_inode:bpf-map") == 0;
}

/* The descriptor by which this process holds the map of that name, borrowed; -1 when it holds
 * none. */
static inline int kernel_map_fd(const char *name)
{
	for (int fd = 0; fd < KERNEL_MAP_MAX_FD; fd++) {
		struct bpf_map_info info = { 0 };
		__u32 len = sizeof(info);

		if (kernel_map_is_one(fd) && bpf_obj_get_info_by_fd(fd, &info, &len) == 0 &&
		    strcmp(info.name, name) == 0)
			return fd;
	}
	return -1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/uprobe_multi.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRACE_UPROBE_MULTI 48 /* enum bpf_attach_type in newer headers */
#define PATH_BYTES 32

/* The arguments of BPF_LINK_CREATE, as newer headers have them. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, link_flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t nr, flags, pid, pad;
};

bool uprobe_multi_is_known(void)
{
	return libbpf_find_vmlinux_btf_id("bpf_uprobe_multi_link_attach", BPF_TRACE_FENTRY) > 0;
}

void uprobe_multi_prepare(struct bpf_program *program)
{
	if (uprobe_multi_is_known())
		bpf_program__set_expected_attach_type(program,
						      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

int uprobe_multi_attach(const struct bpf_program *program, uint32_t pid, int file_fd,
			const struct heap_probes *probes, uint32_t kind, int *ret_fd)
{
	uint64_t offsets[HEAP_MAX_PROBES], semaphores[HEAP_MAX_PROBES], cookies[HEAP_MAX_PROBES];
	char path[PATH_BYTES];
	struct multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(program),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.semaphores = (uintptr_t)semaphores,
		.cookies = (uintptr_t)cookies,
		.pid = pid,
	};

	for (size_t i = 0; i < probes->nr; i++) {
		if (probes->of[i].kind != kind)
			continue;
		offsets[attr.nr] = probes->of[i].offset;
		semaphores[attr.nr] = probes->of[i].semaphore;
		cookies[attr.nr++] = probes->of[i].arguments;
	}
	if (attr.nr == 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return (int)attr.nr;
}

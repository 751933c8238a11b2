/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/heap_links.h"

#include "capture/bpf/uprobe_multi.h"

#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ALL_PROCESSES -1
#define PATH_BYTES 32

#if defined(__aarch64__)
static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
#else
static const uint8_t nop[] = { 0x90 };
#endif

/* Returns whether programs learn the cookie of their probe: since the same version of Linux as
 * links of perf events have one. */
static bool kernel_has_cookies(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) == 1;
}

static bool has_file(const struct heap_links *links, const struct file_key *key)
{
	for (size_t i = 0; i < links->nr_files; i++)
		if (memcmp(&links->files[i], key, sizeof(*key)) == 0)
			return true;
	return false;
}

static int add_multi(struct heap_links *links, uint32_t kind, int file_fd,
		     const struct heap_probes *probes)
{
	if (links->nr_fds == HEAP_LINKS_MAX)
		return -ENOSPC;
	int fd = -EBADF;
	int r = uprobe_multi_attach(links->programs[kind], UPROBE_MULTI_ALL_PROCESSES, file_fd,
				    probes, kind, &fd);
	if (r > 0)
		links->fds[links->nr_fds++] = fd;
	return r;
}

/* Arguments of another kind of probe than alloc are fewer. */
static bool is_usual(const struct heap_probe *probe)
{
	uint64_t first = (1 << HEAP_ARGUMENT_BITS) - 1;
	uint64_t mask = probe->kind == HEAP_PROBE_FREE ? first : UINT64_MAX;

	return probe->arguments == (HEAP_USUAL_ARGUMENTS & mask);
}

static int add_event(struct heap_links *links, const char *path, const struct heap_probe *probe)
{
	bool has_cookies = kernel_has_cookies();
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .ref_ctr_offset = probe->semaphore,
		    .bpf_cookie = has_cookies ? probe->arguments : 0);

	if (!has_cookies && !is_usual(probe))
		return -EOPNOTSUPP;
	if (links->nr_links == HEAP_LINKS_MAX)
		return -ENOSPC;
	struct bpf_link *link = bpf_program__attach_uprobe_opts(
		links->programs[probe->kind], ALL_PROCESSES, path, probe->offset, &opts);
	if (!link)
		return -errno;
	links->links[links->nr_links++] = link;
	return 1;
}

static int add_events(struct heap_links *links, uint32_t kind, const char *path,
		      const struct heap_probes *probes)
{
	int nr = 0, error = 0;

	for (size_t i = 0; i < probes->nr; i++) {
		if (probes->of[i].kind != kind)
			continue;
		int r = add_event(links, path, &probes->of[i]);
		if (r < 0)
			error = r;
		else
			nr += r;
	}
	return nr > 0 ? nr : error;
}

/* The kernel will put a breakpoint there, and count in the semaphore, in all processes that map the
 * file. Who told of the places may lie. */
static bool is_harmless(int fd, const struct heap_probe *probe)
{
	uint8_t code[sizeof(nop)];
	uint16_t semaphore = 0;

	if (pread(fd, code, sizeof(code), (off_t)probe->offset) != sizeof(code) ||
	    memcmp(code, nop, sizeof(nop)) != 0)
		return false;
	return probe->semaphore == 0 || (pread(fd, &semaphore, sizeof(semaphore),
					       (off_t)probe->semaphore) == sizeof(semaphore) &&
					 semaphore == 0);
}

static bool are_harmless(int fd, const struct heap_probes *probes)
{
	for (size_t i = 0; i < probes->nr; i++)
		if (!is_harmless(fd, &probes->of[i]))
			return false;
	return true;
}

/* Frees come first: of what is allocated then, no free is missed. */
int heap_links_add(struct heap_links *links, const struct file_key *key, int fd,
		   const struct heap_probes *probes)
{
	char path[PATH_BYTES];
	int nr = 0;

	if (has_file(links, key))
		return 0;
	if (links->nr_files == HEAP_LINKS_MAX_FILES)
		return -ENOSPC;
	if (!are_harmless(fd, probes))
		return -EBADMSG;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int kind = HEAP_NR_CONTRACT_KINDS - 1; kind >= 0; kind--) {
		if (!links->programs[kind])
			continue;
		int r = links->has_multi ? add_multi(links, (uint32_t)kind, fd, probes)
					 : add_events(links, (uint32_t)kind, path, probes);
		if (r < 0)
			return r;
		nr += r;
	}
	links->files[links->nr_files++] = *key;
	return nr;
}

void heap_links_done(struct heap_links *links)
{
	for (size_t i = 0; i < links->nr_fds; i++)
		close(links->fds[i]);
	for (size_t i = 0; i < links->nr_links; i++)
		bpf_link__destroy(links->links[i]);
	links->nr_fds = 0;
	links->nr_links = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches the programs of bpf/heap.bpf.c to the probes of files. Each file counts once, by what
 * the kernel knows it by: containers may have the same file at many places.
 *
 * From Linux 6.6 on, one link has all probes of a file (uprobe_multi), and CAP_BPF and CAP_PERFMON
 * are enough. Before, each probe is a perf event, which takes CAP_SYS_ADMIN; and before 5.15 only
 * arguments at their usual places can be read. */
#ifndef CAPTURE_BPF_HEAP_LINKS_H
#define CAPTURE_BPF_HEAP_LINKS_H

#include "base/err.h"
#include "bpf/shared/cfi.h"
#include "bpf/shared/heap.h"

#include <stdbool.h>
#include <stddef.h>

#define HEAP_LINKS_MAX_FILES 64
#define HEAP_LINKS_MAX (4 * HEAP_LINKS_MAX_FILES)

struct bpf_link;
struct bpf_program;

struct heap_links {
	bool has_multi; /* the programs were loaded for it */
	struct bpf_program *programs[HEAP_NR_CONTRACT_KINDS]; /* borrowed; NULL: not wanted */
	struct file_key files[HEAP_LINKS_MAX_FILES];
	size_t nr_files;
	int fds[HEAP_LINKS_MAX]; /* owned; links of uprobe_multi */
	size_t nr_fds;
	struct bpf_link *links[HEAP_LINKS_MAX]; /* owned; of perf events */
	size_t nr_links;
};

/* Attaches to the probes of a file. Returns their number; 0 if the file is attached already.
 * Errors: -ENOSPC too many files or probes; -EBADMSG there is no `nop` at the place of a probe, or
 * its semaphore is not 0 in the file; -EOPNOTSUPP the kernel cannot read any of their arguments;
 * those of bpf(2) and perf_event_open(2). */
int heap_links_add(struct heap_links *links, const struct file_key *key, int fd,
		   const struct heap_probes *probes) must_check;

void heap_links_done(struct heap_links *links);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/allocator_calls.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "probes/probe_finder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_NS (5 * NSEC_PER_SEC) /* for all files of a process */

struct search {
	uint32_t pid; /* whose files are looked into */
	bool has_contract; /* one of them has */
	bool is_full;
	struct call_target targets[CALL_TARGETS_MAX]; /* their descriptors are owned */
	size_t nr;
};

static void forget(struct search *search, size_t nr)
{
	while (search->nr > nr)
		cleanup_closep(&search->targets[--search->nr].fd);
}

static void free_search(struct search **search)
{
	if (*search)
		forget(*search, 0);
	free(*search);
}

static bool has_kind(const struct heap_probes *probes, uint32_t first, uint32_t end)
{
	for (size_t i = 0; i < probes->nr; i++)
		if (probes->of[i].kind >= first && probes->of[i].kind < end)
			return true;
	return false;
}

static void note_file(int fd, const struct heap_probes *probes, void *data)
{
	struct search *search = data;

	if (has_kind(probes, 0, HEAP_NR_CONTRACT_KINDS))
		search->has_contract = true;
	if (!has_kind(probes, HEAP_PROBE_CALL, HEAP_NR_PROBE_KINDS))
		return;
	int copy = search->nr < CALL_TARGETS_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (copy < 0)
		search->is_full = true;
	else
		search->targets[search->nr++] = (struct call_target){ search->pid, copy, *probes };
}

/* Adds the files of a process that have an allocator, unless one of its files has the contract's
 * probes. Errors: -ENOMEM. */
static int search_process(struct search *search, int proc_fd, uint32_t pid)
{
	const struct probe_finder_opts opts = { .proc_fd = proc_fd,
						.question = PROBE_QUESTION_CALLS,
						.found = note_file,
						.data = search };
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	size_t nr_before = search->nr;

	search->pid = pid;
	search->has_contract = false;
	int r = probe_finder_new(&opts, &finder);
	if (r < 0)
		return r;
	probe_finder_scan(finder, pid);
	probe_finder_wait(finder, clock_mono_ns() + FILES_NS);
	if (search->has_contract) {
		forget(search, nr_before);
		return 0;
	}
	if (search->nr > nr_before)
		log_info("process %u tells nothing of its allocations: calls of its allocator are "
			 "sampled",
			 pid);
	else if (!search->is_full)
		log_warn("allocations of process %u are not recorded: it exports no allocator",
			 pid);
	return 0;
}

static void sample(const struct search *search, struct sample_source *source)
{
	int r = sample_source_sample_calls(source, search->targets, search->nr);

	if (r == -EOPNOTSUPP)
		log_warn("calls of allocators cannot be sampled: that needs the capture backend "
			 "bpf and Linux 6.6");
	else if (r < 0)
		log_warn("calls of allocators cannot be sampled: %s", strerror(-r));
}

int allocator_calls_start(const uint32_t *pids, size_t nr_pids, int proc_fd,
			  struct sample_source *source)
{
	_cleanup_(free_search) struct search *search = calloc(1, sizeof(*search));
	int r = search ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < nr_pids && !search->is_full; i++)
		r = search_process(search, proc_fd, pids[i]);
	if (r < 0)
		return r;
	if (search->is_full)
		log_warn("too many processes: only the allocations of the first ones are recorded");
	if (search->nr > 0)
		sample(search, source);
	return 0;
}

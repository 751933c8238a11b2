/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/probe_finder.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/parse.h"
#include "process/process_maps.h"
#include "symbol/opener/file_opener.h"
#include "worker/worker_client.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define NR_SEEN 8192 /* a power of 2 */
#define SCAN_MAX_NS (5 * NSEC_PER_SEC) /* for files, when all processes are looked at */

static const struct worker_limits limits = { .timeout_ns = 5 * NSEC_PER_SEC, .cpu_s = 1 };

struct probe_finder {
	struct probe_finder_opts opts;
	struct worker_client *worker; /* owned */
	/* Files that were seen, by their hash. Another file may take the place of one, which is
	 * then looked into again. */
	uint64_t seen[NR_SEEN];
	int waiting[PROBE_FINDER_MAX_WAITING]; /* owned descriptors; a ring */
	size_t first, nr_waiting; /* the first one is with the worker if that is busy */
	struct probe_finder_stats stats;
};

int probe_finder_new(const struct probe_finder_opts *opts, struct probe_finder **ret_finder)
{
	const struct worker_client_opts worker = {
		.program = opts->program,
		.command = PROBE_WORKER_COMMAND,
		.max_data_bytes = PROBE_WORKER_MAX_DATA_BYTES,
	};
	_cleanup_free_ struct probe_finder *finder = calloc(1, sizeof(*finder));

	if (!finder)
		return -ENOMEM;
	finder->opts = *opts;
	int r = worker_client_new(&worker, &finder->worker);
	if (r < 0)
		return r;
	*ret_finder = take_ptr(finder);
	return 0;
}

static void drop_first(struct probe_finder *finder)
{
	cleanup_closep(&finder->waiting[finder->first]);
	finder->first = (finder->first + 1) % PROBE_FINDER_MAX_WAITING;
	finder->nr_waiting--;
}

void probe_finder_free(struct probe_finder *finder)
{
	if (!finder)
		return;
	worker_client_free(finder->worker);
	while (finder->nr_waiting > 0)
		drop_first(finder);
	free(finder);
}

static bool is_new(struct probe_finder *finder, const struct mapped_file *file)
{
	const uint64_t key[] = { file->inode, file->generation, file->dev_major, file->dev_minor };
	uint64_t hash[2], *seen;

	hash_128(key, sizeof(key), hash);
	seen = &finder->seen[hash[1] % NR_SEEN];
	if (*seen == hash[0])
		return false;
	*seen = hash[0];
	return true;
}

int probe_finder_add(struct probe_finder *finder, int fd)
{
	if (finder->nr_waiting == PROBE_FINDER_MAX_WAITING)
		return -ENOSPC;
	finder->waiting[(finder->first + finder->nr_waiting++) % PROBE_FINDER_MAX_WAITING] = fd;
	return 0;
}

/* Opens a file that is mapped for the first time. */
static void see(struct probe_finder *finder, uint32_t pid, const struct mapping *mapping)
{
	struct pinned_file pinned;
	int fd;

	if (mapping->file->inode == 0 || !is_new(finder, mapping->file))
		return;
	if (finder->nr_waiting == PROBE_FINDER_MAX_WAITING) {
		finder->stats.nr_dropped++;
		return;
	}
	int r = file_opener_pin(finder->opts.proc_fd, pid, mapping, &pinned);
	if (r == 0) {
		r = file_opener_open(finder->opts.proc_fd, pid, &pinned, &fd);
		file_opener_unpin(&pinned);
	}
	if (r == 0)
		r = probe_finder_add(finder, fd);
	if (r < 0) {
		log_debug_errno(r, "cannot look for probes in %s", mapping->file->path);
		finder->stats.nr_failed++;
		return;
	}
}

void probe_finder_handle(struct probe_finder *finder, const struct proc_event *event)
{
	struct mapped_file file = {
		.inode = event->inode,
		.dev_major = event->dev_major,
		.dev_minor = event->dev_minor,
	};
	const struct mapping mapping = {
		.start = event->start,
		.end = event->start + event->len,
		.file_offset = event->file_offset,
		.file = &file,
	};

	if (event->kind != PROC_MMAP || event->inode == 0)
		return;
	file.path = strdup(event->path);
	if (file.path)
		see(finder, event->pid, &mapping);
	free(file.path);
}

void probe_finder_scan(struct probe_finder *finder, uint32_t pid)
{
	struct mapped_files files = { 0 };
	struct process_maps_losses losses = { 0 };
	struct mapping_list *list = NULL;

	if (mapping_list_new(&files, &list) < 0)
		return;
	if (process_maps_load(finder->opts.proc_fd, pid, 0, list, &losses) < 0)
		log_debug("cannot read what process %u maps", pid);
	for (size_t i = 0; i < list->nr_items; i++) {
		see(finder, pid, &list->items[i]);
		if (finder->nr_waiting == PROBE_FINDER_MAX_WAITING)
			probe_finder_wait(finder, clock_mono_ns() + SCAN_MAX_NS);
	}
	mapping_list_unref(list);
	mapped_files_done(&files);
}

void probe_finder_scan_all(struct probe_finder *finder)
{
	_cleanup_close_ int fd = openat(finder->opts.proc_fd, ".",
					O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint32_t pid;

	if (!directory)
		return;
	(void)take_fd(fd);
	while ((entry = readdir(directory)))
		if (parse_u32(entry->d_name, &pid) == 0)
			probe_finder_scan(finder, pid);
	closedir(directory);
}

/* Gives the next file to the worker. Returns false if there is none, or the worker cannot take it
 * now. */
static bool ask(struct probe_finder *finder)
{
	const struct worker_request request = { .kind = finder->opts.question,
						.max_bytes = sizeof(struct heap_probes) };

	if (finder->nr_waiting == 0)
		return false;
	int r = worker_client_send(finder->worker, &request, NULL, &finder->waiting[finder->first],
				   1, &limits);
	if (r == -EAGAIN)
		return false;
	if (r < 0) {
		finder->stats.nr_failed++;
		drop_first(finder);
	}
	return r == 0;
}

/* Takes the worker's answer, if it has come until a time. */
static bool take_answer(struct probe_finder *finder, uint64_t until_ns)
{
	_cleanup_free_ void *bytes = NULL;
	struct heap_probes probes = { 0 };
	size_t len = 0;
	int error = 0;

	if (worker_client_wait(finder->worker, until_ns, &error, &bytes, &len) != 1)
		return false;
	if (error == 0)
		error = probe_worker_check(bytes, len, &probes);
	if (error == 0 && probes.nr > 0)
		finder->opts.found(finder->waiting[finder->first], &probes, finder->opts.data);
	finder->stats.nr_files++;
	if (error < 0)
		finder->stats.nr_failed++;
	drop_first(finder);
	return true;
}

static bool go_on(struct probe_finder *finder, uint64_t until_ns)
{
	if (!worker_client_is_busy(finder->worker))
		return ask(finder);
	return take_answer(finder, until_ns);
}

void probe_finder_tick(struct probe_finder *finder)
{
	while (go_on(finder, 0))
		;
	worker_client_tidy(finder->worker, clock_mono_ns());
}

void probe_finder_wait(struct probe_finder *finder, uint64_t until_ns)
{
	while (clock_mono_ns() < until_ns && go_on(finder, until_ns))
		;
}

struct probe_finder_stats probe_finder_get_stats(const struct probe_finder *finder)
{
	return finder->stats;
}

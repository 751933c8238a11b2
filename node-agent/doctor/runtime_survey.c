/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/runtime_survey.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "process/process_maps.h"
#include "symbol/opener/file_opener.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROCESSES 4096
#define MAX_BYTES ((size_t)1 << 20) /* of names, which nobody asks for */
#define WAIT_NS (2 * NSEC_PER_SEC)
#define STEP_NS (5 * NSEC_PER_MSEC)
#define PAUSE_FILES 256 /* that are opened before the answers are waited for */

/* A process and its id among the runtimes; 0: it has none. */
struct surveyed {
	uint32_t pid;
	uint32_t id;
	struct mapping_list *list; /* owned */
};

struct surveyor {
	int proc_fd; /* owned */
	struct runtimes *runtimes; /* owned */
	struct mapped_files files;
	struct surveyed *processes; /* owned; MAX_PROCESSES */
	size_t nr_processes;
	size_t nr_files; /* that were asked */
};

static void surveyor_done(struct surveyor *surveyor)
{
	for (size_t i = 0; i < surveyor->nr_processes; i++)
		mapping_list_unref(surveyor->processes[i].list);
	free(surveyor->processes);
	mapped_files_done(&surveyor->files);
	runtimes_free(surveyor->runtimes);
	cleanup_closep(&surveyor->proc_fd);
}

static int surveyor_init(struct surveyor *surveyor, const char *proc_dir, uint32_t kinds)
{
	surveyor->proc_fd = open(proc_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (surveyor->proc_fd < 0)
		return -errno;
	surveyor->processes = calloc(MAX_PROCESSES, sizeof(*surveyor->processes));
	if (!surveyor->processes)
		return -ENOMEM;
	const struct runtimes_opts opts = {
		.proc_fd = surveyor->proc_fd,
		.kinds = kinds,
		.max_bytes = MAX_BYTES,
	};
	return runtimes_new(&opts, &surveyor->runtimes);
}

/* Has a file asked that no process before had. A file that cannot be opened is no runtime. */
static void ask_file(struct surveyor *surveyor, uint32_t pid, const struct mapping *mapping)
{
	_cleanup_(file_opener_unpin) struct pinned_file pinned = { .fd = -EBADF };
	struct mapped_file *file = mapping->file;
	int fd;

	if (file->cookie != 0 || file->inode == 0)
		return;
	file->cookie = 1;
	int r = file_opener_pin(surveyor->proc_fd, pid, mapping, &pinned);
	if (r == 0)
		r = file_opener_open(surveyor->proc_fd, pid, &pinned, &fd);
	if (r < 0)
		return;
	file->runtime = runtimes_add_file(surveyor->runtimes, &fd, 0);
	if (++surveyor->nr_files % PAUSE_FILES == 0)
		runtimes_wait(surveyor->runtimes, clock_mono_ns() + WAIT_NS);
}

static void add_process(struct surveyor *surveyor, uint32_t pid)
{
	_cleanup_(mapping_list_unrefp) struct mapping_list *list = NULL;
	struct process_maps_losses losses;

	if (surveyor->nr_processes == MAX_PROCESSES ||
	    mapping_list_new(&surveyor->files, &list) < 0 ||
	    process_maps_load(surveyor->proc_fd, pid, 0, list, &losses) < 0)
		return;
	for (size_t i = 0; i < list->nr_items; i++)
		ask_file(surveyor, pid, &list->items[i]);
	surveyor->processes[surveyor->nr_processes++] = (struct surveyed){ .pid = pid,
									   .list = take_ptr(list) };
}

static int add_processes(struct surveyor *surveyor)
{
	int fd = openat(surveyor->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	uint64_t pid;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (parse_u64(entry->d_name, &pid) == 0 && pid > 0 && pid <= UINT32_MAX)
			add_process(surveyor, (uint32_t)pid);
	return 0;
}

static void inspect(struct surveyor *surveyor, struct surveyed *process)
{
	const struct runtime_sampled sampled = { .pid = process->pid, .now_ns = clock_mono_ns() };
	struct runtimes_mapped mapped[RUNTIME_MAX_OF_PROCESS];
	size_t nr = 0;

	for (size_t i = 0; i < process->list->nr_items && nr < RUNTIME_MAX_OF_PROCESS; i++) {
		const struct mapping *mapping = &process->list->items[i];

		if (runtimes_file_state(surveyor->runtimes, mapping->file->runtime) !=
		    RUNTIME_FILE_RUNTIME)
			continue;
		mapped[nr++] = (struct runtimes_mapped){
			.file = mapping->file->runtime,
			.start = mapping->start,
			.offset = mapping->file_offset,
		};
	}
	if (nr > 0)
		process->id = runtimes_see_process(surveyor->runtimes, &sampled, mapped, nr);
}

/* Inspects all processes, and waits until those that can be read are. */
static void inspect_all(struct surveyor *surveyor)
{
	const struct timespec step = clock_timespec(STEP_NS);
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;

	runtimes_wait(surveyor->runtimes, until_ns);
	for (size_t i = 0; i < surveyor->nr_processes; i++)
		inspect(surveyor, &surveyor->processes[i]);
	while (clock_mono_ns() < until_ns) {
		struct runtimes_stats stats = runtimes_get_stats(surveyor->runtimes);
		uint64_t nr_pending = 0;

		for (size_t i = 0; i < array_len(stats.kinds); i++)
			nr_pending += stats.kinds[i].nr_pending;
		if (nr_pending == 0)
			return;
		nanosleep(&step, NULL);
	}
}

static void add_result(struct runtime_survey *survey, const struct runtimes_result *result)
{
	for (size_t i = 0; i < survey->nr_groups; i++) {
		struct runtime_group *group = &survey->groups[i];

		if (group->kind == result->kind && group->version == result->version &&
		    group->state == result->state && strcmp(group->reason, result->reason) == 0) {
			group->nr_processes++;
			return;
		}
	}
	if (survey->nr_groups == RUNTIME_SURVEY_MAX_GROUPS)
		return;
	struct runtime_group *group = &survey->groups[survey->nr_groups++];

	group->kind = result->kind;
	group->version = result->version;
	group->state = result->state;
	memcpy(group->reason, result->reason, sizeof(group->reason));
	group->nr_processes = 1;
}

static void add_results(struct surveyor *surveyor, struct runtime_survey *survey)
{
	struct runtimes_result results[RUNTIME_MAX_OF_PROCESS];

	for (size_t i = 0; i < surveyor->nr_processes; i++) {
		size_t nr = runtimes_get_results(surveyor->runtimes, surveyor->processes[i].id,
						 results);

		for (size_t j = 0; j < nr; j++)
			add_result(survey, &results[j]);
	}
}

int runtime_survey_take(const char *proc_dir, uint32_t kinds, struct runtime_survey *ret_survey)
{
	_cleanup_(surveyor_done) struct surveyor surveyor = { .proc_fd = -EBADF };

	int r = surveyor_init(&surveyor, proc_dir, kinds);
	if (r == 0)
		r = add_processes(&surveyor);
	if (r < 0)
		return r;
	inspect_all(&surveyor);
	*ret_survey = (struct runtime_survey){ 0 };
	add_results(&surveyor, ret_survey);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process_program.h"

#include "base/clock.h"
#include "process/maps_parser.h"
#include "process/proc_stat.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Anonymous memory is "//anon"; mappings of the kernel have names such as "[vdso]". */
static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/';
}

/* The next window asks for the program again. */
static void forget_numbers(struct process *process)
{
	for (size_t i = 0; i < PROCESS_NR_WINDOWS; i++)
		process->numbers[i].window_ns = 0;
}

/* Without memory the program stays unknown. So does a program whose path has no name: runc
 * starts itself from a detached mount, where its path is "/". */
static void keep(struct process *process, const char *path, uint64_t now_ns)
{
	size_t len = maps_path_len_undeleted(path, strlen(path));
	const char *last = memrchr(path, '/', len);

	if (len == 0 || path[len - 1] == '/')
		return;
	if (len >= PROCESS_PROGRAM_MAX && last) {
		len -= (size_t)(last + 1 - path);
		path = last + 1;
	}
	free(process->program);
	process->program = strndup(path, len < PROCESS_PROGRAM_MAX ? len : PROCESS_PROGRAM_MAX - 1);
	process->program_told_ns = now_ns;
	forget_numbers(process);
}

static void forget(struct process *process)
{
	free(process->program);
	process->program = NULL;
	forget_numbers(process);
}

void process_program_replace(struct process *process)
{
	forget(process);
	process->is_program_due = true;
}

void process_program_see_file(struct process *process, const char *path, uint64_t now_ns)
{
	if (!process->is_program_due || !is_file(path))
		return;
	process->is_program_due = false;
	keep(process, path, now_ns);
}

static bool read_link(struct process *process, int proc_fd)
{
	char name[32], path[PATH_MAX + 1];

	snprintf(name, sizeof(name), "%u/exe", process->pid);
	ssize_t len = readlinkat(proc_fd, name, path, sizeof(path) - 1);
	if (len <= 0 || proc_stat_verify_start(proc_fd, process->pid, process->start_ns) < 0)
		return false;
	path[len] = '\0';
	keep(process, path, clock_mono_ns());
	return process->program;
}

static void take_lowest_file(struct process *process)
{
	const struct mapping_list *list = process->mappings;

	for (size_t i = 0; list && i < list->nr_items && !process->program; i++)
		if (list->items[i].file->inode != 0)
			keep(process, list->items[i].file->path, clock_mono_ns());
}

const char *process_program(struct process *process, int proc_fd, uint64_t lost_ns)
{
	bool is_there = !process->is_ended && !process->is_superseded;

	if (is_there && process->program_told_ns < lost_ns) {
		forget(process);
		process->is_program_due = false;
	}
	if (!process->program && !(is_there && read_link(process, proc_fd)))
		take_lowest_file(process);
	return process->program ? process->program : "";
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/thread_list.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/strview.h"
#include "base/text.h"
#include "process/proc_stat.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_MAX_BYTES 16384
#define SLEEPING 'S'
#define RESTART "sys_restart_syscall\n" /* the end of __x64_sys_restart_syscall and the like */

static void close_dirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

void thread_list_done(struct thread_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].kernel_stack);
	free(list->items);
	*list = (struct thread_list){ 0 };
}

/* A line is "[<0>] futex_wait_queue+0x64/0x90 [module]". */
void thread_list_append_stack(const char *text, size_t len, struct strbuf *out)
{
	struct strview rest = strview_of(text, len), line, name;

	while (strview_next(&rest, '\n', &line)) {
		if (!strview_next(&line, ' ', &name) || !strview_starts_with(name, "[<") ||
		    !strview_next(&line, '+', &name) || name.len == 0)
			continue;
		strbuf_append(out, name.text, name.len);
		strbuf_append_char(out, '\n');
	}
}

/* The file has the innermost function without a newline, or "0" if there is none. */
static void append_wchan(int thread_fd, struct strbuf *out)
{
	int r = file_read_at(thread_fd, "wchan", out);

	if (r < 0 || strcmp(strbuf_str(out), "0") == 0)
		strbuf_clear(out);
	else if (out->len > 0)
		strbuf_append_char(out, '\n');
}

static int read_kernel_stack(int thread_fd, char **ret_stack)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(STACK_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf stack = strbuf_with_max(STACK_MAX_BYTES);

	if (file_read_at(thread_fd, "stack", &text) == 0)
		thread_list_append_stack(strbuf_str(&text), text.len, &stack);
	else
		append_wchan(thread_fd, &stack);
	return stack.len > 0 ? text_copy(strbuf_str(&stack), ret_stack) : 0;
}

static void read_comm(int thread_fd, char comm[static THREAD_COMM_BYTES])
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(STACK_MAX_BYTES);

	if (file_read_at(thread_fd, "comm", &text) < 0)
		return;
	size_t len = text.len > 0 ? text.len - 1 : 0; /* without the newline */
	snprintf(comm, THREAD_COMM_BYTES, "%.*s", (int)len, strbuf_str(&text));
}

/* Returns whether the thread is still there. Errors: -ENOMEM. */
static int read_details(int tasks_fd, const char *name, struct thread_info *info)
{
	_cleanup_close_ int fd = openat(tasks_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct proc_stat stat;

	if (fd < 0 || proc_stat_read_at(fd, &stat) < 0)
		return false;
	info->state = stat.state;
	read_comm(fd, info->comm);
	int r = read_kernel_stack(fd, &info->kernel_stack);
	return r < 0 ? r : true;
}

static int read_thread(int tasks_fd, const char *name, enum thread_list_depth depth,
		       struct thread_list *list)
{
	struct thread_info info = { 0 };

	if (parse_u32(name, &info.tid) < 0)
		return 0; /* "." and ".." */
	int r = array_grow(list->items, list->cap, list->nr + 1, THREAD_LIST_MAX);
	if (r == 0)
		r = depth == THREAD_LIST_IDS ? true : read_details(tasks_fd, name, &info);
	if (r > 0)
		list->items[list->nr++] = info;
	return r < 0 ? r : 0;
}

int thread_list_read(int proc_fd, uint32_t pid, enum thread_list_depth depth,
		     struct thread_list *ret_list)
{
	_cleanup_(thread_list_done) struct thread_list list = { 0 };
	_cleanup_(close_dirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[32];
	int r = 0;

	snprintf(path, sizeof(path), "%u/task", pid);
	_cleanup_close_ int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	dir = fdopendir(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir)))
		r = read_thread(fd, entry->d_name, depth, &list);
	if (r < 0)
		return r;
	if (list.nr == 0)
		return -ESRCH;
	*ret_list = list;
	list = (struct thread_list){ 0 };
	return 0;
}

/* Returns whether the outer functions of a stack are all of another one. Some kernels show no more
 * of a restarted call, as the compiler has made a jump of it. */
static bool is_rest(const char *stack, const char *whole)
{
	size_t len = strlen(stack), of_whole = strlen(whole);

	return of_whole > len && whole[of_whole - len - 1] == '\n' &&
	       strcmp(whole + of_whole - len, stack) == 0;
}

static bool is_restarted(const struct thread_info *thread, const struct thread_info *earlier)
{
	const char *stack = thread->kernel_stack, *before = earlier->kernel_stack;

	return thread->state == SLEEPING && earlier->state == SLEEPING && stack && before &&
	       (strstr(stack, RESTART) || is_rest(stack, before));
}

/* Looks from `*next` on, as lists have their threads in the same order. */
static const struct thread_info *find(const struct thread_list *list, uint32_t tid, size_t *next)
{
	for (size_t i = 0; i < list->nr; i++) {
		size_t at = (*next + i) % list->nr;

		if (list->items[at].tid != tid)
			continue;
		*next = at + 1;
		return &list->items[at];
	}
	return NULL;
}

void thread_list_restore_stacks(struct thread_list *list, const struct thread_list *earlier)
{
	size_t next = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct thread_info *thread = &list->items[i];
		const struct thread_info *before = find(earlier, thread->tid, &next);
		char *stack = NULL;

		if (!before || !is_restarted(thread, before) ||
		    text_copy(before->kernel_stack, &stack) < 0)
			continue;
		free(thread->kernel_stack);
		thread->kernel_stack = stack;
	}
}

const char *thread_state_name(char state)
{
	static const struct {
		char state;
		const char *name;
	} names[] = {
		{ 'R', "running" },
		{ 'S', "sleeping" },
		{ 'D', "sleeping, uninterruptible" },
		{ 'T', "stopped" },
		{ 't', "stopped by a tracer" },
		{ 'Z', "ended" },
		{ 'X', "ended" },
		{ 'I', "idle" },
	};

	for (size_t i = 0; i < array_len(names); i++)
		if (names[i].state == state)
			return names[i].name;
	return "in an unknown state";
}

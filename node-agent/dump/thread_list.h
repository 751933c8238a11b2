/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process and what the kernel tells of each in /proc (proc_pid_stat(5),
 * proc_pid_stack(5), proc_pid_wchan(5)), without disturbing them. */
#ifndef DUMP_THREAD_LIST_H
#define DUMP_THREAD_LIST_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define THREAD_LIST_MAX 65536
#define THREAD_COMM_BYTES 16

struct thread_info {
	uint32_t tid;
	char state; /* of proc_pid_stat(5): R, S, D, T, t, Z, X, I */
	char comm[THREAD_COMM_BYTES];
	/* Owned; names of kernel functions, innermost first, each with a newline. Only the
	 * innermost one if the whole stack may not be read, which takes CAP_SYS_ADMIN. NULL: the
	 * thread is in user space, or nothing is known. */
	char *kernel_stack;
};

struct thread_list {
	struct thread_info *items; /* owned; by tid, as they were made */
	size_t nr, cap;
};

enum thread_list_depth {
	THREAD_LIST_IDS, /* of each thread only the id */
	THREAD_LIST_ALL,
};

/* Reads the list below a directory like /proc. Threads that end meanwhile are left out. Errors:
 * -ESRCH there is no such process, -ENOSPC it has more than THREAD_LIST_MAX threads, -ENOMEM, those
 * of openat(2). */
int thread_list_read(int proc_fd, uint32_t pid, enum thread_list_depth depth,
		     struct thread_list *ret_list) must_check;
void thread_list_done(struct thread_list *list);

/* Gives sleeping threads the kernel stack that they had in an earlier list, if the kernel has only
 * restarted their system call since, because they were stopped: such a stack does not say which
 * call it is. */
void thread_list_restore_stacks(struct thread_list *list, const struct thread_list *earlier);

/* Appends the functions' names of a text like /proc/PID/stack, innermost first, each with a
 * newline. Lines of another form are left out. */
void thread_list_append_stack(const char *text, size_t len, struct strbuf *out);

/* Returns a word for a state: "running", "sleeping"; constant text. */
const char *thread_state_name(char state);

#endif

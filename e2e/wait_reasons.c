/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait, each for another reason, which is its name:
 *
 *	wait_reasons SECONDS DIRECTORY
 *
 * Prints how long the kernel says that each thread could run and had no CPU: "NAME SECONDS".
 * Makes a file in the directory, whose file system should be on a disk. */
#define _GNU_SOURCE
#include "threads.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_MS 5
#define FILE_BYTES ((size_t)64 << 20)
#define PAGE_BYTES 4096

static double end;
static int pipe_ends[2], socket_ends[2], file_fd;
static char *mapped;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

/* Also what the pipe and the socket wait for. */
static void work_sleep(void)
{
	usleep(PAUSE_MS * 1000);
	check(write(pipe_ends[1], "", 1) == 1, "write");
	check(write(socket_ends[1], "", 1) == 1, "write");
}

static void work_pipe(void)
{
	char byte;

	check(read(pipe_ends[0], &byte, 1) >= 0, "read");
}

static void work_network(void)
{
	char byte;

	check(read(socket_ends[0], &byte, 1) >= 0, "read");
}

static void work_poll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	check(fd >= 0 && epoll_wait(fd, &event, 1, PAUSE_MS) == 0, "epoll_wait");
	close(fd);
}

static void work_futex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PAUSE_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &until);
	pthread_mutex_unlock(&mutex);
}

static void work_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NAME, "sleep");
		usleep(PAUSE_MS * 1000);
		_exit(0);
	}
	check(child > 0 && waitpid(child, NULL, 0) == child, "waitpid");
}

static void work_signal(void)
{
	const struct timespec timeout = { .tv_nsec = PAUSE_MS * 1000000L };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &timeout);
}

static void work_disk(void)
{
	static const char page[PAGE_BYTES];

	check(pwrite(file_fd, page, sizeof(page), FILE_BYTES) == PAGE_BYTES, "pwrite");
	check(fdatasync(file_fd) == 0, "fdatasync");
}

/* Each page once: then they are in memory. */
static void work_page_fault(void)
{
	volatile const char *pages = mapped;

	for (size_t i = 0; i < FILE_BYTES && read_clock(CLOCK_MONOTONIC) < end; i += PAGE_BYTES)
		(void)pages[i];
	pause();
}

static void work_preempted(void)
{
	for (double until = read_clock(CLOCK_MONOTONIC) + 0.1; read_clock(CLOCK_MONOTONIC) < until;)
		;
}

/* The second number of schedstat (Documentation/scheduler/sched-stats.rst), in seconds. */
static double read_run_delay(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	long long delay_ns = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*d %lld", &delay_ns) != 1)
		delay_ns = 0;
	fclose(file);
	return (double)delay_ns / 1e9;
}

struct thread {
	const char *name;
	void (*work)(void);
	bool is_on_first_cpu;
};

static void move_to_first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *run(void *data)
{
	const struct thread *thread = data;

	if (thread->is_on_first_cpu)
		move_to_first_cpu();
	prctl(PR_SET_NAME, thread->name);
	double delay = read_run_delay(); /* before it had its name */
	while (read_clock(CLOCK_MONOTONIC) < end)
		thread->work();
	printf("%s %.6f\n", thread->name, read_run_delay() - delay);
	return NULL;
}

static void make_socket(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(listener >= 0 && bind(listener, (struct sockaddr *)&address, len) == 0, "bind");
	check(listen(listener, 1) == 0, "listen");
	check(getsockname(listener, (struct sockaddr *)&address, &len) == 0, "getsockname");
	socket_ends[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	check(connect(socket_ends[1], (struct sockaddr *)&address, len) == 0, "connect");
	socket_ends[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	check(socket_ends[0] >= 0, "accept");
}

static void make_file(const char *directory)
{
	static const char page[PAGE_BYTES] = "page";
	char path[4096];

	snprintf(path, sizeof(path), "%s/waited-for", directory);
	file_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(file_fd >= 0, path);
	for (size_t i = 0; i < FILE_BYTES; i += PAGE_BYTES)
		check(pwrite(file_fd, page, PAGE_BYTES, (off_t)i) == PAGE_BYTES, "pwrite");
	check(fdatasync(file_fd) == 0, "fdatasync");
	check(posix_fadvise(file_fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "posix_fadvise");
	mapped = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, file_fd, 0);
	check(mapped != MAP_FAILED, "mmap");
	madvise(mapped, FILE_BYTES, MADV_RANDOM);
}

int main(int argc, char **argv)
{
	static const struct thread threads[] = {
		{ .name = "sleep", .work = work_sleep },
		{ .name = "pipe", .work = work_pipe },
		{ .name = "network", .work = work_network },
		{ .name = "poll", .work = work_poll },
		{ .name = "futex", .work = work_futex },
		{ .name = "signal", .work = work_signal },
		{ .name = "disk", .work = work_disk },
		{ .name = "page-fault", .work = work_page_fault },
		{ .name = "preempted", .work = work_preempted, .is_on_first_cpu = true },
		{ .name = "preempted", .work = work_preempted, .is_on_first_cpu = true },
	};
	static const struct thread child = { .name = "child", .work = work_child };
	size_t nr = sizeof(threads) / sizeof(threads[0]);
	pthread_t handle;
	sigset_t set;

	check(argc == 3 && pipe2(pipe_ends, O_CLOEXEC) == 0,
	      "usage: wait_reasons SECONDS DIRECTORY");
	make_socket();
	make_file(argv[2]);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	end = read_clock(CLOCK_MONOTONIC) + strtod(argv[1], NULL);
	/* In a process of its own: fork(2) holds up the page faults of all threads. */
	if (fork() == 0) {
		run((void *)&child);
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; i < nr; i++)
		check(pthread_create(&handle, NULL, run, (void *)&threads[i]) == 0, "thread");
	while (read_clock(CLOCK_MONOTONIC) <
	       end + 0.2) /* threads that still wait end with the process */
		usleep(1000);
	return EXIT_SUCCESS;
}

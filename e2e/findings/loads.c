/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that each have one cause, for ../findings.py: "loads NAME [FILE]" runs
 * until it is killed, and "loads list" prints the names. A load that this
 * kernel refuses prints why and exits with 77. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SKIPPED 77
#define MANY_FILTER_STEPS 1000

static __attribute__((noreturn)) void skip(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(SKIPPED);
}

static void start_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		skip("pthread_create");
}

static void run_threads(void *(*run)(void *))
{
	for (int i = 0; i < 7; i++)
		start_thread(run);
	run(NULL);
}

static void *spin(void *unused)
{
	for (volatile uint64_t i = 0;; i++)
		(void)unused;
	return NULL;
}

/* Returns 0 in the child, which ends with its parent. */
static pid_t fork_child(void)
{
	pid_t child = fork();

	if (child < 0)
		skip("fork");
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin_lock;
static volatile uint64_t counter;

static void *take_mutex(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void load_futex(void)
{
	run_threads(take_mutex);
}

static void *take_spin_lock(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_spin_lock(&spin_lock);
		for (int i = 0; i < 1000; i++)
			counter++;
		pthread_spin_unlock(&spin_lock);
	}
	return NULL;
}

static void load_user_spin(void)
{
	pthread_spin_init(&spin_lock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 3; i++)
		start_thread(take_spin_lock);
	take_spin_lock(NULL);
}

static int lock_file;
static char lock_bytes[1 << 16];

/* Looks for a lock in a long list, under a spin lock of the file. */
static void *look_for_lock(void *unused)
{
	(void)unused;
	for (;;) {
		struct flock lock = { .l_type = F_WRLCK, .l_start = 1 << 20, .l_len = 1 };

		fcntl(lock_file, F_OFD_GETLK, &lock);
	}
	return NULL;
}

static void load_kernel_spin(void)
{
	lock_file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	for (int i = 0; i < 4000; i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_start = i * 2, .l_len = 1 };

		if (fcntl(lock_file, F_SETLK, &lock) < 0)
			skip("fcntl");
	}
	for (int i = 0; i < 3; i++)
		start_thread(look_for_lock);
	look_for_lock(NULL);
}

/* The position of a file is protected by a mutex. */
static void *read_file_again(void *unused)
{
	char *bytes = malloc(sizeof(lock_bytes));

	(void)unused;
	for (;;) {
		if (lseek(lock_file, 0, SEEK_SET) < 0 ||
		    read(lock_file, bytes, sizeof(lock_bytes)) < 0)
			skip("read");
	}
	return NULL;
}

static void load_kernel_mutex(void)
{
	lock_file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (write(lock_file, lock_bytes, sizeof(lock_bytes)) < 0)
		skip("write");
	for (int i = 0; i < 3; i++)
		start_thread(read_file_again);
	read_file_again(NULL);
}

static void *map_and_unmap(void *unused)
{
	(void)unused;
	for (;;) {
		void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0);

		munmap(memory, 4096);
	}
	return NULL;
}

static void load_mmap_lock(void)
{
	for (int i = 0; i < 3; i++)
		start_thread(map_and_unmap);
	map_and_unmap(NULL);
}

static void *sleep_with_mutex(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&mutex);
		usleep(10000);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void load_sleeping_mutex(void)
{
	run_threads(sleep_with_mutex);
}

/* A file of the current directory, whose name is gone. */
static int open_data(size_t bytes)
{
	char block[1 << 16];
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	memset(block, 1, sizeof(block));
	if (fd < 0)
		skip("open");
	for (size_t written = 0; written < bytes; written += sizeof(block))
		if (write(fd, block, sizeof(block)) < 0)
			skip("write");
	if (fsync(fd) < 0)
		skip("fsync");
	return fd;
}

static void *write_to_disk(void *unused)
{
	int fd = open_data(0);

	(void)unused;
	for (;;)
		if (pwrite(fd, "x", 1, 0) < 0 || fsync(fd) < 0)
			skip("fsync");
	return NULL;
}

/* A disk does one flush at a time. */
static void load_fsync(void)
{
	run_threads(write_to_disk);
}

#define DATA_BYTES ((size_t)4 << 20)

/* The kernel forgets the pages of the file again and again. */
static void *read_from_disk(void *unused)
{
	int fd = open_data(DATA_BYTES);
	char byte;

	(void)unused;
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (;;) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t at = 0; at < DATA_BYTES; at += 4096)
			if (pread(fd, &byte, 1, (off_t)at) < 0)
				skip("pread");
	}
	return NULL;
}

static void load_disk(void)
{
	run_threads(read_from_disk);
}

static void *touch_file(void *unused)
{
	int fd = open_data(DATA_BYTES);
	const volatile char *bytes = mmap(NULL, DATA_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	(void)unused;
	if (bytes == MAP_FAILED)
		skip("mmap");
	madvise((void *)bytes, DATA_BYTES, MADV_RANDOM);
	for (;;) {
		madvise((void *)bytes, DATA_BYTES, MADV_DONTNEED);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		for (size_t at = 0; at < DATA_BYTES; at += 4096)
			counter += (uint64_t)bytes[at];
	}
	return NULL;
}

static void load_file_faults(void)
{
	run_threads(touch_file);
}

static void load_yield(void)
{
	for (;;)
		sched_yield();
}

/* Touches fresh memory again and again. */
static __attribute__((noinline)) void touch(volatile char *memory, size_t len)
{
	for (size_t i = 0; i < len; i += 4096)
		memory[i] = 1;
}

static void load_page_faults(void)
{
	size_t len = 16 << 20;
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, len, MADV_NOHUGEPAGE);
	for (;;) {
		touch(memory, len);
		madvise(memory, len, MADV_DONTNEED);
	}
}

static void load_huge_pages(void)
{
	size_t len = 16 << 20;
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (madvise(memory, len, MADV_HUGEPAGE) < 0)
		skip("madvise(MADV_HUGEPAGE)");
	for (;;) {
		touch(memory, len);
		madvise(memory, len, MADV_DONTNEED);
	}
}

/* Changes mappings that another thread uses on the other CPU. */
static void load_tlb(void)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	start_thread(spin);
	for (;;) {
		memory[0] = 1;
		madvise(memory, 4096, MADV_DONTNEED);
	}
}

static void load_membarrier(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) < 0)
		skip("membarrier");
	start_thread(spin);
	for (;;)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Opens an event of a CPU, which that CPU must do itself, from another one. */
static void load_cross_cpu(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_CONTEXT_SWITCHES };
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	int event = (int)syscall(SYS_perf_event_open, &attr, -1, 1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		skip("perf_event_open on CPU 1");
	for (uint64_t value[1];;)
		if (read(event, value, sizeof(value)) < 0)
			skip("read");
}

static void read_file(const char *path)
{
	static char bytes[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		skip(path);
	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

/* The file that is named on the command line, or NULL. */
static const char *file_name;

static void load_read(void)
{
	for (;;)
		read_file(file_name);
}

/* Maps a file, and uses all its pages. */
static void load_map(void)
{
	int fd = open(file_name, O_RDONLY | O_CLOEXEC);
	off_t len = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	volatile char *bytes = len < 0 ? MAP_FAILED
				       : mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, 0);

	if (bytes == MAP_FAILED)
		skip(file_name);
	for (;;)
		for (off_t i = 0; i < len; i += 4096)
			counter += (uint64_t)bytes[i];
}

/* Starts this program again and again; it has nothing to do. */
static void load_exec(void)
{
	char path[4096] = { 0 };

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		skip("readlink");
	for (;;) {
		pid_t child = fork_child();

		if (child == 0) {
			execl(path, path, "noop", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}

static void load_noop(void)
{
	_exit(0);
}

/* Packets to itself. */
static void load_udp(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	char byte[1] = { 0 };

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		skip("bind");
	for (;;)
		if (sendto(fd, byte, sizeof(byte), 0, (struct sockaddr *)&address, len) < 0)
			skip("sendto");
}

static void load_cpuinfo(void)
{
	for (;;)
		read_file("/proc/cpuinfo");
}

static void load_smaps(void)
{
	for (int i = 0; i < 200; i++) {
		size_t len = 64 << 10;
		char *memory = mmap(NULL, len, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (memory == MAP_FAILED)
			skip("mmap");
	}
	for (;;)
		read_file("/proc/self/smaps");
}

static void load_proc(void)
{
	for (;;)
		read_file("/proc/self/stat");
}

static __attribute__((noinline)) void probed(void)
{
	counter++;
	__asm__ volatile("");
}

/* Has the kernel count the calls of a function of this program. */
static void load_uprobe(void)
{
	char path[4096];
	uint32_t type = 0;
	FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (!file || fscanf(file, "%u", &type) != 1 || len < 0)
		skip("no PMU \"uprobe\"");
	path[len] = '\0';
	extern const char __executable_start[];
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.uprobe_path = (uintptr_t)path,
		.probe_offset = (uintptr_t)probed - (uintptr_t)__executable_start,
	};
	if (syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		skip("perf_event_open of an uprobe");
	for (;;)
		probed();
}

static void load_cpu_time(void)
{
	struct timespec now;

	for (;;)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}

static void load_clock(void)
{
	struct timespec now;

	for (;;)
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
}

static void load_random(void)
{
	char bytes[16];

	for (;;)
		if (getrandom(bytes, sizeof(bytes), 0) < 0)
			skip("getrandom");
}

/* Each system call walks through a long filter; the system call's number decides nothing, so the
 * kernel cannot remember the result. */
static void load_seccomp(void)
{
	static struct sock_filter steps[MANY_FILTER_STEPS + 1];
	struct sock_fprog program = { .len = MANY_FILTER_STEPS + 1, .filter = steps };

	for (int i = 0; i < MANY_FILTER_STEPS; i++)
		steps[i] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16);
	steps[MANY_FILTER_STEPS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		skip("seccomp");
	for (;;)
		syscall(SYS_getppid);
}

/* For trace events: nothing but system calls. */
static void load_syscalls(void)
{
	for (;;)
		syscall(SYS_getppid);
}

static void load_threads(void)
{
	for (int i = 0; i < 3; i++)
		start_thread(spin);
	spin(NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} loads[] = {
	{ "clock", load_clock },
	{ "cpu-time", load_cpu_time },
	{ "cpuinfo", load_cpuinfo },
	{ "cross-cpu", load_cross_cpu },
	{ "disk", load_disk },
	{ "exec", load_exec },
	{ "file-faults", load_file_faults },
	{ "fsync", load_fsync },
	{ "futex", load_futex },
	{ "huge-pages", load_huge_pages },
	{ "kernel-mutex", load_kernel_mutex },
	{ "kernel-spin", load_kernel_spin },
	{ "map", load_map },
	{ "membarrier", load_membarrier },
	{ "mmap-lock", load_mmap_lock },
	{ "noop", load_noop },
	{ "page-faults", load_page_faults },
	{ "proc", load_proc },
	{ "random", load_random },
	{ "read", load_read },
	{ "seccomp", load_seccomp },
	{ "sleeping-mutex", load_sleeping_mutex },
	{ "smaps", load_smaps },
	{ "syscalls", load_syscalls },
	{ "threads", load_threads },
	{ "tlb", load_tlb },
	{ "udp", load_udp },
	{ "uprobe", load_uprobe },
	{ "user-spin", load_user_spin },
	{ "yield", load_yield },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "list";

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the test */
	file_name = argc > 2 ? argv[2] : "/proc/self/stat";
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (strcmp(name, "list") == 0)
			puts(loads[i].name);
		else if (strcmp(name, loads[i].name) == 0)
			loads[i].run();
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The agent has threads and may be large, so its memory is not copied. Until execve(2), the child
 * runs in our memory on its own stack, and the thread that starts it waits, as in posix_spawn(3),
 * which supports neither limits nor prctl(2). Other threads continue and may hold locks, so the
 * child only makes system calls. It reports an error through the shared memory. */
#include "worker/worker_process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#define STACK_BYTES ((size_t)1 << 16)

/* ThreadSanitizer takes every clone(2) for a fork(2), and gets confused by shared memory. */
#if defined(__has_feature)
#define IS_THREAD_SANITIZED __has_feature(thread_sanitizer)
#elif defined(__SANITIZE_THREAD__)
#define IS_THREAD_SANITIZED 1
#else
#define IS_THREAD_SANITIZED 0
#endif
#define CLONE_FLAGS (SIGCHLD | CLONE_VFORK | (IS_THREAD_SANITIZED ? 0 : CLONE_VM))

#define NICENESS 5
#define OOM_SCORE "1000"
#define WAIT_STEP_NS NSEC_PER_MSEC
#define STATM_MAX_BYTES 256

struct launch {
	const char *program;
	const char *other; /* path to try if the first one fails */
	char *const *args;
	char *const *envp;
	int socket; /* the worker's end */
	pid_t parent;
	uint64_t max_data_bytes, max_fds;
	int error; /* negative errno, set by the child */
};

/* Moves a descriptor above those that are about to be replaced. */
static int move_up(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, WORKER_PROCESS_SOCKET_FD + 1);
}

/* A minimal root file system has no /dev/null. A pipe without its other end replaces it. */
static int open_null(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];

	if (fd >= 0 || pipe2(ends, O_CLOEXEC) < 0)
		return fd;
	close(ends[1]);
	return ends[0];
}

/* close_range(2) does not exist before Linux 5.9, but execve(2) closes all descriptors that this
 * program opens. */
static int set_descriptors(int socket_fd)
{
	int null_fd = move_up(open_null());

	socket_fd = move_up(socket_fd);
	if (null_fd < 0 || socket_fd < 0)
		return -errno;
	if (dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
	    dup2(socket_fd, WORKER_PROCESS_SOCKET_FD) < 0)
		return -errno;
	syscall(SYS_close_range, WORKER_PROCESS_SOCKET_FD + 1, ~0U, 0);
	return 0;
}

/* The C library refuses the signals that it uses itself. They have handlers, which execve(2)
 * removes. */
static void set_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit = { .rlim_cur = value, .rlim_max = value };

	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

static int set_limits(uint64_t max_data_bytes, uint64_t max_fds)
{
	struct rlimit files;

	if (set_limit(RLIMIT_CORE, 0) < 0 || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -errno;
	if (files.rlim_max > max_fds && set_limit(RLIMIT_NOFILE, max_fds) < 0)
		return -errno;
	return max_data_bytes ? set_limit(RLIMIT_DATA, max_data_bytes) : 0;
}

/* If this fails, the worker runs with normal priority. */
static void lower_priority(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t n = write(fd, OOM_SCORE, strlen(OOM_SCORE));

		(void)n;
		close(fd);
	}
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
}

/* Sets no_new_privs, because execve(2) of a file with capabilities would clear the parent-death
 * signal. */
static int tie_to_parent(pid_t parent)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/* Runs in the child. */
static int become_program(void *data)
{
	struct launch *launch = data;

	setsid();
	lower_priority();
	launch->error = tie_to_parent(launch->parent);
	if (launch->error == 0)
		launch->error = set_descriptors(launch->socket);
	if (launch->error == 0)
		launch->error = set_limits(launch->max_data_bytes, launch->max_fds);
	if (launch->error < 0)
		return 1;
	set_signals();
	execve(launch->program, launch->args, launch->envp);
	execve(launch->other, launch->args, launch->envp);
	launch->error = -errno;
	return 1;
}

/* Blocks signals, as our handlers must not run in the child, which shares our memory. */
static int run_child(struct launch *launch, pid_t *ret_pid)
{
	sigset_t all;
	sigset_t before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid_t pid = clone(become_program, (char *)launch + STACK_BYTES, CLONE_FLAGS, launch);
	int r = pid < 0 ? -errno : launch->error;
	if (r < 0 && pid > 0)
		waitpid(pid, NULL, 0); /* no signal interrupts it */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	*ret_pid = pid;
	return 0;
}

/* AddressSanitizer assumes that the child's functions have not returned, and would report errors
 * for the next use of that memory. */
static void forget_stack(struct launch *launch)
{
#if defined(__SANITIZE_ADDRESS__)
	ASAN_UNPOISON_MEMORY_REGION(launch, STACK_BYTES);
#else
	(void)launch;
#endif
}

/* Allocates the child's stack, with its task and its error below it. */
static int launch_program(const struct launch *what, pid_t *ret_pid)
{
	struct launch *launch = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (launch == MAP_FAILED)
		return -errno;
	*launch = *what;
	int r = run_child(launch, ret_pid);
	forget_stack(launch);
	munmap(launch, STACK_BYTES);
	return r;
}

/* The kernel names a process after its file. "exe" would be meaningless, so our own program is
 * started by its path, unless that is another file now. */
static const char *find_own_program(char path[static PATH_MAX])
{
	ssize_t len = readlink(WORKER_PROCESS_OWN_PROGRAM, path, PATH_MAX - 1);
	struct stat own;
	struct stat named;

	if (len <= 0)
		return WORKER_PROCESS_OWN_PROGRAM;
	path[len] = '\0';
	if (stat(path, &named) < 0 || stat(WORKER_PROCESS_OWN_PROGRAM, &own) < 0 ||
	    named.st_dev != own.st_dev || named.st_ino != own.st_ino)
		return WORKER_PROCESS_OWN_PROGRAM;
	return path;
}

int worker_process_start(const struct worker_process_opts *opts, struct worker_process *ret_worker)
{
	static char *const no_environment[] = { NULL };
	char own_path[PATH_MAX];
	const char *program = opts->program ? opts->program : find_own_program(own_path);
	char *const args[] = { (char *)program, (char *)opts->command, NULL };
	int ends[2];
	pid_t pid = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	_cleanup_close_ int ours = ends[0];
	_cleanup_close_ int theirs = ends[1];

	const struct launch launch = {
		.program = program,
		.other = opts->program ? opts->program : WORKER_PROCESS_OWN_PROGRAM,
		.args = args,
		.envp = opts->envp ? opts->envp : no_environment,
		.socket = theirs,
		.parent = getpid(),
		.max_data_bytes = WORKER_PROCESS_IS_SANITIZED ? 0 : opts->max_data_bytes,
		.max_fds = opts->max_fds ? opts->max_fds : WORKER_PROCESS_MAX_FDS,
	};
	int r = launch_program(&launch, &pid);
	if (r < 0)
		return r;
	*ret_worker = (struct worker_process){ .pid = pid,
					       .socket = take_fd(ours),
					       .max_data_bytes = opts->max_data_bytes };
	return 0;
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NSEC_PER_SEC + (uint64_t)time.tv_usec * NSEC_PER_USEC;
}

bool worker_process_has_ended(struct worker_process *worker)
{
	struct rusage usage = { 0 };

	if (worker->pid == 0)
		return true;
	if (wait4(worker->pid, &worker->status, WNOHANG, &usage) == 0)
		return false;
	/* also if our parent ignored SIGCHLD, so that there is no status */
	worker->pid = 0;
	worker->cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	return true;
}

bool worker_process_stop(struct worker_process *worker, uint64_t timeout_ns)
{
	const struct timespec step = clock_timespec(WAIT_STEP_NS);
	uint64_t deadline_ns = clock_mono_ns() + timeout_ns;

	cleanup_closep(&worker->socket);
	worker->socket = -EBADF;
	if (worker->pid > 0)
		kill(worker->pid, SIGKILL);
	while (!worker_process_has_ended(worker)) {
		if (clock_mono_ns() >= deadline_ns)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

int worker_process_release_memory(const struct worker_process *worker)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, worker->pid, 0);

	return fd < 0 || syscall(SYS_process_mrelease, fd, 0) < 0 ? -errno : 0;
}

/* Reads the second number of /proc/PID/statm, which counts pages. */
static uint64_t read_resident_bytes(pid_t pid)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(STATM_MAX_BYTES);
	char path[32];
	uint64_t nr_pages;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (file_read_at(AT_FDCWD, path, &text) < 0 || !text.data)
		return 0;
	const char *cursor = strchr(text.data, ' ');
	if (!cursor++)
		return 0;
	if (parse_digits(&cursor, text.data + text.len, 10, &nr_pages) < 0)
		return 0;
	return nr_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t read_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_read_ns(clock) : 0;
}

/* Sets the soft limit only, which may be raised again. */
void worker_process_limit_cpu(const struct worker_process *worker, uint64_t nr_seconds)
{
	struct rlimit limit;

	if (worker->pid == 0 || prlimit(worker->pid, RLIMIT_CPU, NULL, &limit) < 0)
		return;
	rlim_t before = limit.rlim_cur;
	limit.rlim_cur = nr_seconds ? read_cpu_ns(worker->pid) / NSEC_PER_SEC + nr_seconds + 1
				    : limit.rlim_max;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_cur != before)
		(void)prlimit(worker->pid, RLIMIT_CPU, &limit, NULL);
}

struct worker_process_usage worker_process_get_usage(const struct worker_process *worker)
{
	struct worker_process_usage usage = { .cpu_ns = worker->cpu_ns };

	if (worker->pid == 0)
		return usage;
	usage.cpu_ns = read_cpu_ns(worker->pid);
	usage.resident_bytes = read_resident_bytes(worker->pid);
	return usage;
}

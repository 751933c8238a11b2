/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command for which this kernel looks like Linux 3.10, the one of CentOS 7:
 *
 *	old_kernel COMMAND [ARGUMENT...]
 *
 * A seccomp filter answers ENOSYS to each system call that is newer: in both architectures' tables
 * these are the ones behind finit_module(2), of 3.8. It answers as 3.10 did to some newer
 * operations of older calls (`rules`). What cannot be judged by numbers alone, perf_event_open(2)
 * with its struct, goes to a supervisor, which reads the caller's memory and either answers or lets
 * the kernel go on; uname(2) goes there too, to tell the version.
 *
 *	this process   installs the filter and becomes the command: same pid, same parent
 *	   └─ (gone)   so that the command has no child that it does not know
 *	        └─ supervisor   ends when no process with the filter is left
 *
 * What is not imitated: what files in /proc and /sys say, and what 3.10 did not do although nobody
 * asks for it by a number, like marking an exec in a COMM record.
 */
#include "base/cleanup.h"
#include "base/err.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define RELEASE "3.10.0-1160.el7"
#define EXIT_CANNOT_RUN 125

#ifdef __aarch64__
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE AUDIT_ARCH_X86_64
#endif
#define NEWEST_CALL __NR_finit_module

/* perf_event_open(2) of 3.10 */
#define ATTR_BYTES PERF_ATTR_SIZE_VER3
#define ATTR_MAX_BYTES 4096
#define FLAGS_MASK (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP)
#define SAMPLE_TYPES_MASK ((UINT64_C(1) << 16) - 1) /* up to PERF_SAMPLE_DATA_SRC */
#define READ_FORMATS_MASK ((UINT64_C(1) << 4) - 1) /* up to PERF_FORMAT_GROUP */
#define SOFTWARE_EVENTS 9 /* up to PERF_COUNT_SW_EMULATION_FAULTS: no dummy */
#define ATTR_BITS 23 /* up to exclude_callchain_user */
#define ATTR_BITS_OFFSET 40

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
#define PERF_IOCTL(number) ((unsigned int)'$' << 8 | (number))
#define ANY_BIT UINT32_MAX

/* A call fails when the masked argument is in the range. */
struct rule {
	uint32_t call;
	uint32_t argument;
	uint32_t mask;
	uint32_t first, last;
	uint32_t error;
};

static const struct rule rules[] = {
	{ __NR_prctl, 0, ANY_BIT, 41, 0x59616d60, EINVAL }, /* PR_SET_THP_DISABLE…; not Yama's */
	{ __NR_madvise, 2, ANY_BIT, 8, 8, EINVAL }, /* MADV_FREE */
	{ __NR_madvise, 2, ANY_BIT, 18, 99, EINVAL }, /* MADV_WIPEONFORK… */
	{ __NR_mmap, 3, MAP_TYPE, MAP_SHARED_VALIDATE, MAP_SHARED_VALIDATE, EINVAL },
	{ __NR_fcntl, 1, ANY_BIT, 36, 38, EINVAL }, /* F_OFD_… */
	{ __NR_fcntl, 1, ANY_BIT, 1033, 1040, EINVAL }, /* F_ADD_SEALS… */
	{ __NR_openat, 2, TMPFILE_BIT, TMPFILE_BIT, TMPFILE_BIT, EISDIR },
#ifdef __NR_open
	{ __NR_open, 1, TMPFILE_BIT, TMPFILE_BIT, TMPFILE_BIT, EISDIR },
#endif
	{ __NR_ioctl, 1, 0xffff, PERF_IOCTL(7), PERF_IOCTL(255), ENOTTY }, /* …_ID, …_SET_BPF, … */
};

#define RULE_STATEMENTS 7
#define FRAME_STATEMENTS 10
#define STATEMENTS_MAX (RULE_STATEMENTS * array_len(rules) + FRAME_STATEMENTS)

struct program {
	struct sock_filter statements[STATEMENTS_MAX];
	unsigned short len;
};

static void add(struct program *program, unsigned int code, uint32_t operand)
{
	program->statements[program->len++] = (struct sock_filter)BPF_STMT((uint16_t)code, operand);
}

/* Goes on with the next statement when the comparison holds, else passes over as many. */
static void add_test(struct program *program, unsigned int comparison, uint32_t operand,
		     unsigned int skip)
{
	program->statements[program->len++] = (struct sock_filter)BPF_JUMP(
		(uint16_t)(BPF_JMP | comparison | BPF_K), operand, 0, (uint8_t)skip);
}

static void add_load(struct program *program, size_t offset)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static void add_rule(struct program *program, const struct rule *rule)
{
	add_load(program, offsetof(struct seccomp_data, nr));
	add_test(program, BPF_JEQ, rule->call, 5);
	add_load(program, offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t));
	add(program, BPF_ALU | BPF_AND | BPF_K, rule->mask);
	add_test(program, BPF_JGE, rule->first, 2);
	program->statements[program->len++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGT | BPF_K, rule->last, 1, 0);
	add(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | rule->error);
}

static void add_calls_for_supervisor(struct program *program)
{
	static const uint32_t calls[] = { __NR_perf_event_open, __NR_uname };

	for (size_t i = 0; i < array_len(calls); i++) {
		add_test(program, BPF_JEQ, calls[i], 1);
		add(program, BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
}

static void make_program(struct program *program)
{
	add_load(program, offsetof(struct seccomp_data, arch));
	add_test(program, BPF_JEQ, MACHINE, 2);
	add_load(program, offsetof(struct seccomp_data, nr));
	add_test(program, BPF_JGT, NEWEST_CALL, 1);
	add(program, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	add_calls_for_supervisor(program);
	for (size_t i = 0; i < array_len(rules); i++)
		add_rule(program, &rules[i]);
	add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/* Returns the descriptor that the supervisor listens to. */
static int install_filter(void)
{
	struct program program = { .len = 0 };

	make_program(&program);
	const struct sock_fprog filter = { .len = program.len, .filter = program.statements };

	for (int attempt = 0; attempt < 2; attempt++) {
		long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
				  SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
		if (fd >= 0)
			return (int)fd;
		if (errno != EACCES || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			break;
	}
	return -errno;
}

static struct iovec memory_of_other(uint64_t address, size_t len)
{
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer of the other process */
	return (struct iovec){ .iov_base = (void *)address, .iov_len = len };
}

static int read_memory(uint32_t pid, uint64_t address, void *buffer, size_t len)
{
	const struct iovec local = { .iov_base = buffer, .iov_len = len };
	const struct iovec remote = memory_of_other(address, len);

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static int write_memory(uint32_t pid, uint64_t address, const void *buffer, size_t len)
{
	const struct iovec local = { .iov_base = (void *)buffer, .iov_len = len };
	const struct iovec remote = memory_of_other(address, len);

	return process_vm_writev((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0
										       : -EFAULT;
}

static int judge_values(const struct perf_event_attr *attr)
{
	uint64_t bits;

	memcpy(&bits, (const char *)attr + ATTR_BITS_OFFSET, sizeof(bits));
	if (bits >> ATTR_BITS || attr->sample_type & ~SAMPLE_TYPES_MASK ||
	    attr->read_format & ~READ_FORMATS_MASK)
		return -EINVAL;
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config >= SOFTWARE_EVENTS)
		return -ENOENT;
	return 0;
}

/* Larger structs are fine where the kernel would not miss anything; else it
 * says how large its own is. */
static int judge_attr(uint32_t pid, uint64_t address)
{
	union {
		struct perf_event_attr attr;
		uint8_t bytes[ATTR_MAX_BYTES];
	} caller = { .bytes = { 0 } };
	uint32_t size;

	if (read_memory(pid, address + offsetof(struct perf_event_attr, size), &size,
			sizeof(size)) < 0)
		return -EFAULT;
	if (size == 0)
		size = PERF_ATTR_SIZE_VER0;
	bool is_known = size >= PERF_ATTR_SIZE_VER0 && size <= ATTR_MAX_BYTES;
	if (is_known && read_memory(pid, address, &caller, size) < 0)
		return -EFAULT;
	for (size_t i = ATTR_BYTES; i < size && is_known; i++)
		is_known = caller.bytes[i] == 0;
	if (is_known)
		return judge_values(&caller.attr);

	size = ATTR_BYTES;
	int r = write_memory(pid, address + offsetof(struct perf_event_attr, size), &size,
			     sizeof(size));
	return r < 0 ? r : -E2BIG;
}

static int judge_perf_event_open(const struct seccomp_notif *call)
{
	if (call->data.args[4] & ~(uint64_t)FLAGS_MASK)
		return -EINVAL;
	return judge_attr(call->pid, call->data.args[0]);
}

static int tell_version(const struct seccomp_notif *call)
{
	struct utsname name;

	if (uname(&name) < 0)
		return -errno;
	memset(name.release, 0, sizeof(name.release));
	memcpy(name.release, RELEASE, sizeof(RELEASE));
	return write_memory(call->pid, call->data.args[0], &name, sizeof(name));
}

static void answer(int listener, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp response = { .id = call->id };

	if (call->data.nr == __NR_uname)
		response.error = tell_version(call);
	else
		response.error = judge_perf_event_open(call);
	if (response.error == 0 && call->data.nr != __NR_uname)
		response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	/* A caller that was killed meanwhile needs no answer. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void supervise(int listener)
{
	struct pollfd waiting = { .fd = listener, .events = POLLIN };

	for (;;) {
		struct seccomp_notif call = { .id = 0 };

		if (poll(&waiting, 1, -1) < 0 && errno != EINTR)
			return;
		if (!(waiting.revents & POLLIN) && waiting.revents & POLLHUP)
			return;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0)
			answer(listener, &call);
	}
}

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

static int send_descriptor(int socket_fd, int fd)
{
	union control control = { .room = { 0 } };
	struct iovec byte = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	const struct msghdr message = { .msg_iov = &byte,
					.msg_iovlen = 1,
					.msg_control = &control,
					.msg_controllen = sizeof(control) };

	control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fd)),
					   .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket_fd, &message, 0) == 1 ? 0 : -errno;
}

static int receive_descriptor(int socket_fd)
{
	union control control = { .room = { 0 } };
	struct iovec byte = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd;

	if (recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    message.msg_controllen < CMSG_LEN(sizeof(fd)))
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* Keeps nothing of its starter's but the socket: somebody may wait for the end of a pipe. */
static void be_supervisor(int socket_fd)
{
	_cleanup_close_ int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null_fd, fd);
	int listener = receive_descriptor(socket_fd);
	if (listener >= 0)
		supervise(listener);
}

/* Returns the socket to the supervisor. */
static int start_supervisor(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		close(ends[0]);
		if (fork() == 0)
			be_supervisor(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	waitpid(pid, NULL, 0);
	return ends[0];
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: old_kernel COMMAND [ARGUMENT...]\n", stderr);
		return EXIT_CANNOT_RUN;
	}
	_cleanup_close_ int socket_fd = start_supervisor();
	if (socket_fd < 0) {
		fprintf(stderr, "old_kernel: no supervisor: %s\n", strerror(-socket_fd));
		return EXIT_CANNOT_RUN;
	}
	_cleanup_close_ int listener = install_filter();
	if (listener < 0 || send_descriptor(socket_fd, listener) < 0) {
		fprintf(stderr, "old_kernel: no filter: %s\n",
			strerror(listener < 0 ? -listener : errno));
		return EXIT_CANNOT_RUN;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "old_kernel: cannot run %s: %s\n", argv[1], strerror(errno));
	return EXIT_CANNOT_RUN;
}

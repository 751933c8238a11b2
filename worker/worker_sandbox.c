/* SPDX-License-Identifier: Apache-2.0 */
/* A system call filter is a list of rules, translated into a classic BPF program that compares the
 * call's number with each rule in turn; the first match decides. Some rules check an argument:
 * memory must not be executable or shared; workers that read files write to standard error only,
 * and use fcntl(2) only to duplicate and inspect descriptors; workers that use the network, and the
 * server of a record, open files for reading only; the former have internet sockets only, and the
 * latter only those of its clients; and a vendor's library cannot make files. Only the lower half
 * of an argument is compared: the kernel takes it as an int, or has no flags in the upper half. */
#include "worker/worker_sandbox.h"

#include "base/capabilities.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#error "Which system calls this architecture has is not known."
#endif

#define MAX_INSNS 512

/* Decides on a system call if its argument, masked, has this value. */
struct rule {
	uint32_t number;
	uint32_t verdict;
	uint32_t argument;
	uint32_t mask; /* 0: the rule matches with any arguments */
	uint32_t value;
};

#define RULE(name, what, arg, bits, wanted)                                                        \
	{                                                                                          \
		.number = SYS_##name, .verdict = (what), .argument = (arg), .mask = (bits),        \
		.value = (wanted)                                                                  \
	}
#define REFUSED (SECCOMP_RET_ERRNO | EACCES)

#define ALLOW(name) RULE(name, SECCOMP_RET_ALLOW, 0, 0, 0)
#define ALLOW_IF(name, arg, bits, wanted) RULE(name, SECCOMP_RET_ALLOW, arg, bits, wanted)
#define REFUSE(name) RULE(name, REFUSED, 0, 0, 0)
#define REFUSE_IF(name, arg, bits, wanted) RULE(name, REFUSED, arg, bits, wanted)
#define ABSENT(name) RULE(name, SECCOMP_RET_ERRNO | ENOSYS, 0, 0, 0)
#define KILL(name) RULE(name, SECCOMP_RET_KILL_PROCESS, 0, 0, 0)

/* Flags of open(2) with which a file is written or created. */
#define WRITING (O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* The rules of every worker. */
static const struct rule common_rules[] = {
	/* requests and replies */
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	/* files that are open */
	ALLOW(pread64),
	ALLOW(read),
	ALLOW(lseek),
	ALLOW(close),
	ALLOW(fstat),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_DUPFD_CLOEXEC),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_GETFD),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_GETFL),
	/* memory; RLIMIT_DATA does not count shared memory */
	REFUSE_IF(mmap, 3, MAP_SHARED, MAP_SHARED),
	ALLOW_IF(mmap, 2, PROT_EXEC, 0),
	ALLOW_IF(mprotect, 2, PROT_EXEC, 0),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(madvise),
	ALLOW(brk),
	ALLOW(sysinfo), /* qsort() asks for the size of the memory */
	ALLOW(futex),
	ALLOW(getrandom), /* malloc() and hash tables */
	/* time and signals */
	ALLOW(clock_gettime),
	ALLOW(rt_sigreturn),
	ALLOW(rt_sigprocmask),
	ALLOW(restart_syscall),
	ALLOW(exit),
	ALLOW(exit_group),
};

static const struct rule file_rules[] = {
	/* The pages of the files do not stay in the cache (base/cold_file.h). */
	ALLOW(mincore),
	ALLOW(fadvise64),
	ALLOW_IF(newfstatat, 3, UINT32_MAX, AT_EMPTY_PATH), /* fstat() */
	ALLOW_IF(setitimer, 0, UINT32_MAX, ITIMER_PROF), /* limits the time for a name */
	/* messages */
	ALLOW_IF(write, 0, UINT32_MAX, STDERR_FILENO),
	ALLOW_IF(writev, 0, UINT32_MAX, STDERR_FILENO),
	/* by name: libdw looks for its own file, the C library for configuration */
	REFUSE(openat),
	REFUSE(newfstatat),
	REFUSE(readlinkat),
#ifdef SYS_open
	REFUSE(open),
	REFUSE(readlink),
#endif
};

/* The calls of libcurl, OpenSSL and the C library's resolver. They cope without a call that the
 * kernel does not have. So a call that is not on the list is refused as if the kernel did not have
 * it. */
static const struct rule network_rules[] = {
	/* sockets; not those of this machine's programs */
	ALLOW(ppoll),
	ALLOW(sendto),
	ALLOW(recvfrom),
	ALLOW(write),
	ALLOW(readv),
	ALLOW(writev),
	ALLOW_IF(socket, 0, UINT32_MAX, AF_INET),
	ALLOW_IF(socket, 0, UINT32_MAX, AF_INET6),
	ALLOW_IF(socket, 0, UINT32_MAX, AF_NETLINK), /* getaddrinfo(): which addresses we have */
	REFUSE(socket),
	ALLOW(socketpair), /* libcurl wakes itself up */
	ALLOW(connect),
	ALLOW(bind), /* of AF_NETLINK */
	ALLOW(getsockname),
	ALLOW(getpeername),
	ALLOW(getsockopt),
	ALLOW(setsockopt),
	ALLOW(sendmmsg),
	ALLOW(recvmmsg),
	ALLOW(shutdown),
	ALLOW(pselect6),
	ALLOW(epoll_create1),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait),
	ALLOW(eventfd2),
	ALLOW(pipe2),
	ALLOW_IF(ioctl, 1, UINT32_MAX, FIONREAD),
	ALLOW_IF(ioctl, 1, UINT32_MAX, FIONBIO),
	/* files, for reading: certificates, the resolver's */
	ALLOW_IF(openat, 2, WRITING, O_RDONLY),
	REFUSE(openat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(faccessat),
	ALLOW(readlinkat),
	ALLOW(getdents64),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_SETFD),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_SETFL),
	/* memory that could be executed */
	REFUSE(mmap),
	REFUSE(mprotect),
	/* threads: names are resolved by one. clone3(2) is not there, as its flags cannot be
	 * looked at */
	ALLOW_IF(clone, 0, CLONE_THREAD, CLONE_THREAD),
	ALLOW(set_robust_list),
#ifdef SYS_rseq
	ALLOW(rseq),
#endif
	ALLOW(gettid),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW_IF(prctl, 0, UINT32_MAX, PR_SET_NAME),
	/* process and host */
	ALLOW(getpid),
	ALLOW(getuid),
	ALLOW(geteuid),
	ALLOW(getgid),
	ALLOW(getegid),
	ALLOW(uname),
	ALLOW_IF(prlimit64, 2, UINT32_MAX, 0), /* no new one */
	/* time and signals */
	ALLOW(clock_nanosleep),
	ALLOW(gettimeofday),
	ALLOW(rt_sigaction),
#ifdef SYS_open
	ALLOW(poll),
	ALLOW(select),
	ALLOW(epoll_wait),
	ALLOW_IF(open, 1, WRITING, O_RDONLY),
	REFUSE(open),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(access),
	ALLOW(readlink),
	ALLOW(time),
#endif
};

/* Calls that only an intruder would make. */
static const struct rule intruder_rules[] = {
	KILL(execve),
	KILL(execveat),
	KILL(ptrace),
	KILL(process_vm_readv),
	KILL(process_vm_writev),
	KILL(kill),
	KILL(tkill),
	KILL(mount),
	KILL(umount2),
	KILL(chroot),
	KILL(pivot_root),
	KILL(setns),
	KILL(unshare),
	KILL(bpf),
	KILL(perf_event_open),
	KILL(init_module),
	KILL(finit_module),
	KILL(open_by_handle_at),
	KILL(add_key),
	KILL(keyctl),
#ifdef SYS_pidfd_getfd
	KILL(pidfd_getfd),
#endif
#ifdef SYS_io_uring_setup
	KILL(io_uring_setup),
#endif
};

/* The calls of libmicrohttpd and SQLite, for clients that connect to a socket that is open, and for
 * files that another process writes. SQLite reads the shared memory beside such a file, and copes
 * without writing there: its marks only keep the writer from reusing pages that are read, and a
 * reader may share a mark that is there already. */
static const struct rule server_rules[] = {
	/* clients */
	ALLOW(accept4),
	ALLOW(recvfrom),
	ALLOW(sendto),
	ALLOW(shutdown),
	ALLOW(setsockopt),
	ALLOW(getsockname),
	ALLOW(epoll_ctl),
	ALLOW(epoll_pwait),
	ALLOW(ppoll),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_SETFD),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_SETFL),
	/* files, for reading */
	ALLOW_IF(openat, 2, WRITING, O_RDONLY),
	REFUSE(openat),
	ALLOW(newfstatat),
	ALLOW(statx),
	ALLOW(faccessat),
	ALLOW(readlinkat),
	ALLOW(getdents64),
	ALLOW(getcwd), /* SQLite makes paths absolute */
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_GETLK),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_SETLK),
	ALLOW_IF(mmap, 2, PROT_WRITE | PROT_EXEC, 0), /* shared, too */
	/* messages */
	ALLOW_IF(write, 0, UINT32_MAX, STDOUT_FILENO),
	ALLOW_IF(write, 0, UINT32_MAX, STDERR_FILENO),
	ALLOW_IF(writev, 0, UINT32_MAX, STDERR_FILENO),
	/* a thread merges what another one has read */
	ALLOW_IF(clone, 0, CLONE_THREAD, CLONE_THREAD),
	ALLOW(set_robust_list),
#ifdef SYS_rseq
	ALLOW(rseq),
#endif
	ALLOW(gettid),
	ALLOW(sched_yield),
	ALLOW(sched_getaffinity),
	ALLOW_IF(prctl, 0, UINT32_MAX, PR_SET_NAME),
	/* process, host and time */
	ALLOW(getpid),
	ALLOW(geteuid), /* SQLite would give files that it makes to their owner */
	ALLOW(uname),
	ALLOW(clock_nanosleep), /* SQLite waits for locks */
	ALLOW(gettimeofday),
#ifdef SYS_open
	ALLOW(poll),
	ALLOW(epoll_wait),
	ALLOW_IF(open, 1, WRITING, O_RDONLY),
	REFUSE(open),
	ALLOW(stat),
	ALLOW(lstat),
	ALLOW(access),
	ALLOW(readlink),
	ALLOW(time),
#endif
	/* it has its socket, and calls nobody */
	KILL(socket),
	KILL(socketpair),
	KILL(bind),
	KILL(listen),
	KILL(connect),
};

/* The further calls of libdebuginfod's cache of files. */
static const struct rule cache_rules[] = {
	ALLOW(openat),
	ALLOW(mkdirat),
	ALLOW(unlinkat),
	ALLOW(renameat),
	ALLOW(renameat2),
	ALLOW(ftruncate),
	ALLOW(fchmod),
	ALLOW(fchmodat),
	ALLOW(utimensat),
	ALLOW(fsync),
	ALLOW(flock),
	ALLOW(statfs),
	ALLOW(fstatfs),
	ALLOW(getcwd),
	ALLOW(chdir),
	ALLOW(fchdir),
	ALLOW(umask),
	ALLOW(dup),
	ALLOW_IF(fcntl, 1, UINT32_MAX, F_DUPFD),
	ALLOW_IF(prlimit64, 1, UINT32_MAX, RLIMIT_FSIZE),
#ifdef SYS_open
	ALLOW(open),
	ALLOW(mkdir),
	ALLOW(rmdir),
	ALLOW(unlink),
	ALLOW(rename),
	ALLOW(chmod),
	ALLOW(dup2),
#endif
};

/* What a library that reads devices has no need to do. clone3(2) and openat2(2) seem to be missing,
 * as their flags cannot be looked at; the C library then makes the older calls. */
static const struct rule device_rules[] = {
	ALLOW_IF(clone, 0, CLONE_THREAD, CLONE_THREAD),
	REFUSE(clone),
	ABSENT(clone3),
	REFUSE(socket),
	REFUSE(socketpair),
	REFUSE_IF(openat, 2, O_CREAT, O_CREAT),
	REFUSE_IF(openat, 2, O_TRUNC, O_TRUNC),
	REFUSE_IF(openat, 2, O_TMPFILE & ~O_DIRECTORY, O_TMPFILE & ~O_DIRECTORY),
	REFUSE_IF(openat, 2, O_ACCMODE, O_WRONLY),
#ifdef SYS_openat2
	ABSENT(openat2),
#endif
	REFUSE(mkdirat),
	REFUSE(mknodat),
	REFUSE(unlinkat),
	REFUSE(renameat2),
	REFUSE(linkat),
	REFUSE(symlinkat),
	REFUSE(fchmod),
	REFUSE(fchmodat),
	REFUSE(fchown),
	REFUSE(fchownat),
	REFUSE(truncate),
	REFUSE(ftruncate),
	REFUSE(fallocate),
	REFUSE(setxattr),
	REFUSE(fsetxattr),
	REFUSE(lsetxattr),
#ifdef SYS_renameat
	REFUSE(renameat),
#endif
#ifdef SYS_open
	REFUSE(fork),
	REFUSE(vfork),
	REFUSE_IF(open, 1, O_CREAT, O_CREAT),
	REFUSE_IF(open, 1, O_TRUNC, O_TRUNC),
	REFUSE_IF(open, 1, O_TMPFILE & ~O_DIRECTORY, O_TMPFILE & ~O_DIRECTORY),
	REFUSE_IF(open, 1, O_ACCMODE, O_WRONLY),
	REFUSE(creat),
	REFUSE(mkdir),
	REFUSE(mknod),
	REFUSE(rmdir),
	REFUSE(unlink),
	REFUSE(rename),
	REFUSE(link),
	REFUSE(symlink),
	REFUSE(chmod),
	REFUSE(chown),
	REFUSE(lchown),
#endif
};

struct filter {
	unsigned short nr_insns;
	struct sock_filter insns[MAX_INSNS];
};

static void add(struct filter *filter, struct sock_filter insn)
{
	if (filter->nr_insns < MAX_INSNS)
		filter->insns[filter->nr_insns++] = insn;
}

static void add_load(struct filter *filter, size_t offset)
{
	add(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* Skips instructions unless the loaded value is equal. */
static void add_skip_unless(struct filter *filter, uint32_t value, uint8_t nr_skipped)
{
	add(filter, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, nr_skipped));
}

static void add_verdict(struct filter *filter, uint32_t verdict)
{
	add(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* The call's number is loaded before and after the rule. */
static void add_rule(struct filter *filter, const struct rule *rule)
{
	if (rule->mask == 0) {
		add_skip_unless(filter, rule->number, 1);
		add_verdict(filter, rule->verdict);
		return;
	}
	add_skip_unless(filter, rule->number, 5);
	add_load(filter, offsetof(struct seccomp_data, args) + rule->argument * sizeof(uint64_t));
	add(filter, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, rule->mask));
	add_skip_unless(filter, rule->value, 1);
	add_verdict(filter, rule->verdict);
	add_load(filter, offsetof(struct seccomp_data, nr));
}

#define NR_LISTS 4

struct rule_list {
	const struct rule *rules; /* NULL: none */
	size_t nr;
};

#define LIST(name)                                                                                 \
	{                                                                                          \
		name, array_len(name)                                                              \
	}

static const struct {
	struct rule_list lists[NR_LISTS]; /* the first rule that matches decides */
	uint32_t otherwise; /* verdict on a call that matches no rule */
} policies[] = {
	[WORKER_SANDBOX_FILES] = { { LIST(common_rules), LIST(file_rules) },
				   SECCOMP_RET_KILL_PROCESS },
	[WORKER_SANDBOX_NETWORK] = { { LIST(common_rules), LIST(network_rules),
				       LIST(intruder_rules) },
				     SECCOMP_RET_ERRNO | ENOSYS },
	[WORKER_SANDBOX_DOWNLOAD] = { { LIST(cache_rules), LIST(common_rules), LIST(network_rules),
					LIST(intruder_rules) },
				      SECCOMP_RET_ERRNO | ENOSYS },
	[WORKER_SANDBOX_SERVER] = { { LIST(server_rules), LIST(common_rules),
				      LIST(intruder_rules) },
				    SECCOMP_RET_ERRNO | ENOSYS },
	[WORKER_SANDBOX_DEVICES] = { { LIST(device_rules), LIST(intruder_rules) },
				     SECCOMP_RET_ALLOW },
};

/* Calls of another architecture, such as 32-bit ones, have other numbers and are not on any list,
 * nor are x32 calls. */
static void build_filter(enum worker_sandbox kind, struct filter *filter)
{
	filter->nr_insns = 0;
	add_load(filter, offsetof(struct seccomp_data, arch));
	add_skip_unless(filter, OUR_ARCH, 1);
	add_load(filter, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < NR_LISTS; i++)
		for (size_t k = 0; k < policies[kind].lists[i].nr; k++)
			add_rule(filter, &policies[kind].lists[i].rules[k]);
	add_verdict(filter, policies[kind].otherwise);
}

int worker_sandbox_filter_calls(enum worker_sandbox kind)
{
	struct filter filter;
	struct sock_fprog program = { .filter = filter.insns };

	if (WORKER_PROCESS_IS_SANITIZED)
		return 0;
	build_filter(kind, &filter);
	if (filter.nr_insns == MAX_INSNS)
		return -E2BIG;
	program.len = filter.nr_insns;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

/* Gives up all capabilities and keeps other processes of the same user from tracing this one. The
 * capability bounding set is emptied where that is permitted. */
static int drop_privileges(void)
{
	int r = capabilities_deny_programs();

	(void)r;
	r = capabilities_keep(0);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int worker_sandbox_enter(enum worker_sandbox kind)
{
	int r = drop_privileges();
	return r < 0 ? r : worker_sandbox_filter_calls(kind);
}

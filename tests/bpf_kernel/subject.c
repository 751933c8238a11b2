/* SPDX-License-Identifier: Apache-2.0 */
#include "subject.h"

#include "base/array.h"
#include "base/parse.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "subject"
#define PAGE_BYTES 4096
#define ALARM_US 20000 /* of CPU time in user space */
#define STACK_BYTES 65536

static volatile uint64_t sink;
static volatile sig_atomic_t order;
static void (*volatile body)(void);
static char **arguments;

static void fork_now(void)
{
	if (fork() == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

SUBJECT(load_plugin) static void load_plugin(void)
{
	void *plugin = dlopen(arguments[3], RTLD_NOW);
	void (*run)(void) = NULL;

	if (plugin)
		*(void **)&run = dlsym(plugin, "plugin_run");
	if (run)
		run();
	sink++;
}

SUBJECT(obey) static void obey(void)
{
	int number = order;

	order = 0;
	if (number == SIGUSR2)
		execv("/proc/self/exe", arguments);
	else if (strcmp(arguments[2], "plugin") == 0)
		load_plugin();
	else
		fork_now();
	sink++;
}

SUBJECT(spin) static void spin(void)
{
	while (order == 0)
		sink++;
}

SUBJECT(recurse) static void recurse(uint64_t depth)
{
	if (depth > 1)
		recurse(depth - 1);
	else
		spin();
	sink++;
}

SUBJECT(descend) static void descend(void)
{
	uint64_t depth;

	if (parse_u64(arguments[3], &depth) == 0)
		recurse(depth);
	sink++;
}

SUBJECT(read_zeros) static void read_zeros(void)
{
	static char page[PAGE_BYTES];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (syscall(SYS_read, fd, page, sizeof(page)) > 0)
		sink++;
}

SUBJECT(burn_in_handler) static void burn_in_handler(void)
{
	for (;;)
		sink++;
}

SUBJECT(handle_alarm) static void handle_alarm(int number)
{
	burn_in_handler();
	sink += (uint64_t)number;
}

SUBJECT(inner) static void inner(void)
{
	for (;;) {
		body();
		obey();
	}
}

SUBJECT(middle) static void middle(uint64_t a)
{
	volatile char text[200];

	text[a % sizeof(text)] = 1;
	inner();
	sink += (uint64_t)text[a % sizeof(text)];
}

SUBJECT(outer) static void outer(uint64_t a, uint64_t b)
{
	middle(a * b);
	sink += a;
}

static void take_order(int number)
{
	order = number;
}

static void raise_alarm(void)
{
	static char memory[STACK_BYTES];
	const stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	const struct sigaction action = { .sa_handler = handle_alarm, .sa_flags = SA_ONSTACK };
	const struct itimerval period = { .it_value = { .tv_usec = ALARM_US } };

	sigaltstack(&stack, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &period, NULL);
}

SUBJECT(become_subject) void become_subject(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = take_order, .sa_flags = SA_NODEFER };

	if (argc < 4 || strcmp(argv[1], NAME) != 0)
		return;
	arguments = argv;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	body = spin;
	if (strcmp(argv[2], "deep") == 0)
		body = descend;
	else if (strcmp(argv[2], "calls") == 0)
		body = read_zeros;
	else if (strcmp(argv[2], "signal") == 0)
		raise_alarm();
	outer((uint64_t)argc, sink);
	sink++;
}

pid_t subject_start(const char *mode, const char *argument)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl("/proc/self/exe", NAME, NAME, mode, argument, NULL);
	_exit(127);
}

void subject_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that make and change processes: `churn MODE ARGUMENTS…`. The modes are in the table at the
 * end. Whatever they start ends with them. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "swap_lib.h"

#include <dlfcn.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define RELOAD_WORK_NS (20 * NSEC_PER_MSEC)

static volatile uint64_t sink;

/* posix_spawn() takes an argument vector that is not constant. */
static char burn_mode[] = "burn", burn_ms[] = "2", sleep_mode[] = "sleep";

struct mode {
	const char *name;
	int nr_args; /* at least */
	int (*run)(char **args);
	const char *usage;
};

/* 0 where the text is none. */
static uint32_t number(const char *text)
{
	uint32_t value = 0;

	return parse_u32(text, &value) == 0 ? value : 0;
}

/* The symbol's address as a function pointer of any type. */
static void *find_symbol(void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	if (!symbol)
		fprintf(stderr, "churn: %s\n", dlerror());
	return symbol;
}

static int work_in(const char *path, uint64_t work_ns, bool show_version)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*version)(void);
	uint64_t (*work)(uint64_t until_ns);
	char name[16];

	if (!library) {
		fprintf(stderr, "churn: %s\n", dlerror());
		return 1;
	}
	*(void **)&version = find_symbol(library, "swap_version");
	*(void **)&work = find_symbol(library, "swap_work");
	if (!version || !work)
		return 1;
	if (show_version) {
		snprintf(name, sizeof(name), "swap_v%d", version());
		prctl(PR_SET_NAME, name);
	}
	sink += work(clock_mono_ns() + work_ns);
	return dlclose(library) == 0 ? 0 : 1;
}

static int run_swapped(char **args)
{
	return work_in(args[0], number(args[1]) * NSEC_PER_SEC, true);
}

static int run_reload(char **args)
{
	for (size_t i = 0;; i++) {
		const char *path = args[i] ? args[i] : args[i = 0];

		if (work_in(path, RELOAD_WORK_NS, false) != 0)
			return 1;
		usleep(1000);
	}
}

static int run_burn(char **args)
{
	uint64_t until_ns = clock_mono_ns() + number(args[0]) * NSEC_PER_MSEC;

	while (clock_mono_ns() < until_ns)
		sink++;
	return 0;
}

static int run_sleep(char **args)
{
	(void)args;
	pause();
	return 0;
}

static int start(char *mode, char *arg)
{
	char *argv[] = { mode, mode, arg, NULL };
	pid_t pid;

	return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ);
}

static int run_storm(char **args)
{
	uint32_t rate = number(args[0]);
	uint64_t next_ns = clock_mono_ns();

	if (rate == 0)
		return 2;
	for (;;) {
		if (start(burn_mode, burn_ms) != 0)
			return 1;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		next_ns += NSEC_PER_SEC / rate;
		struct timespec until = clock_timespec(next_ns);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static int run_idle(char **args)
{
	uint32_t nr = number(args[0]);

	for (uint32_t i = 0; i < nr; i++) {
		if (start(sleep_mode, NULL) != 0)
			return 1;
	}
	printf("%u\n", nr);
	fflush(stdout);
	pause();
	return 0;
}

static const struct mode modes[] = {
	{ "swapped", 2, run_swapped, "LIBRARY SECONDS: works in it, named swap_v and its version" },
	{ "reload", 1, run_reload, "LIBRARY…: loads, calls and unloads each in turn" },
	{ "storm", 1, run_storm, "RATE: starts as many short programs a second" },
	{ "idle", 1, run_idle, "NR: starts as many processes that do nothing, then says so" },
	{ "burn", 1, run_burn, "MS: burns CPU time" },
	{ "sleep", 0, run_sleep, "" },
};

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) == 0 && argc - 2 >= modes[i].nr_args)
			return modes[i].run(argv + 2);
	}
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		fprintf(stderr, "churn %s %s\n", modes[i].name, modes[i].usage);
	return 2;
}

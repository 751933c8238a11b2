/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what a switch between two threads costs, in ns of CPU time: two processes on one CPU pass
 * a byte back and forth.
 *
 *	switches CPU ROUNDS */
#include "base/parse.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SWITCHES_PER_ROUND 2

static void stay_on(uint32_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		err(1, "cannot stay on CPU %" PRIu32, cpu);
}

/* Gives back each byte until there is no more. */
static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

static void pass(int in, int out, uint32_t nr_rounds)
{
	char byte = 0;

	for (uint32_t i = 0; i < nr_rounds; i++)
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			errx(1, "the other process ended");
}

static double read_ns(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		err(1, "cannot read a process's clock");
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	uint32_t cpu, nr_rounds;
	clockid_t clock;

	if (argc != 3)
		errx(2, "usage: switches CPU ROUNDS");
	if (parse_u32(argv[1], &cpu) < 0 || parse_u32(argv[2], &nr_rounds) < 0)
		errx(2, "the CPU and the rounds are numbers");
	stay_on(cpu);
	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		err(1, "cannot make a pipe");
	pid_t child = fork();
	if (child < 0)
		err(1, "cannot fork");
	if (child == 0) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	if (clock_getcpuclockid(child, &clock) != 0)
		errx(1, "the other process has no clock");
	pass(back[0], there[1], nr_rounds / 10); /* both are warm then */
	double begin_ns = read_ns(clock) + read_ns(CLOCK_PROCESS_CPUTIME_ID);
	pass(back[0], there[1], nr_rounds);
	double end_ns = read_ns(clock) + read_ns(CLOCK_PROCESS_CPUTIME_ID);
	printf("%.1f\n", (end_ns - begin_ns) / nr_rounds / SWITCHES_PER_ROUND);
	close(there[1]);
	waitpid(child, NULL, 0);
	return 0;
}

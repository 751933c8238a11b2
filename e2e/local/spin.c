/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose profile is known beforehand: it burns a given amount of CPU time in one function
 * and then says how much it really took. The function's name comes from the compiler's command line
 * (-DHOT=...), one name a container, so that a sample tells by itself where it was taken.
 *
 *	spin wait|now CPU_MS PERCENT stay|exit
 *
 * "wait" begins at SIGUSR1. PERCENT is the share of one CPU: 40 ms of work, then a rest. The last
 * line on standard output is "cpu_us=N". "stay" then sleeps, so that the container lives on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BURST_NS (40 * 1000000ULL)

static volatile unsigned long sink;

void HOT(void);

/* About half a millisecond of arithmetic: the clock is read rarely, so
 * nearly all time is spent here. */
void HOT(void)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < 500000; i++)
		__asm__ volatile("" : "+r"(x));
	sink = x + 1;
}

static unsigned long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec;
}

static void burn(unsigned long long ns)
{
	unsigned long long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		HOT();
}

static void wait_for_start(void)
{
	sigset_t set;
	int which;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &which);
}

static void burn_in_bursts(unsigned long long total_ns, unsigned long percent)
{
	unsigned long long rest_ns = BURST_NS * (100 - percent) / percent;
	struct timespec rest = { 0, (long)rest_ns };

	for (unsigned long long done = 0; done < total_ns; done += BURST_NS) {
		burn(total_ns - done < BURST_NS ? total_ns - done : BURST_NS);
		if (percent < 100)
			nanosleep(&rest, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	if (strcmp(argv[1], "wait") == 0)
		wait_for_start();

	unsigned long long start = cpu_ns();

	burn_in_bursts(strtoull(argv[2], NULL, 10) * 1000000ULL, strtoul(argv[3], NULL, 10));
	printf("cpu_us=%llu\n", (cpu_ns() - start) / 1000);
	fflush(stdout);
	while (strcmp(argv[4], "stay") == 0)
		pause();
	return 0;
}

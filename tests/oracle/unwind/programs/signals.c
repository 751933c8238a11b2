/* SPDX-License-Identifier: Apache-2.0 */
/* Storms of signals, handled on an alternate stack, that interrupt code anywhere: in prologues, in
 * library functions, in other handlers.
 *
 * The alternate stack lies right below a small stack of the thread, so that a copy that begins on
 * the one goes on with the other. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "burn.h"

#define ALTERNATE_BYTES 28672
#define STACK_BYTES 32768
#define PERIOD_US 300

NOINLINE static unsigned long in_handler(unsigned long x)
{
	return burn(3000 + x % 1000);
}

static void on_signal(int signal)
{
	sink += in_handler((unsigned long)signal);
}

NOINLINE static unsigned long work(unsigned long x)
{
	char text[256];

	memset(text, (int)x, sizeof(text));
	return burn(x % 50) + (unsigned char)text[x % sizeof(text)] + strnlen(text, sizeof(text));
}

NOINLINE static unsigned long descend(unsigned long x, unsigned int depth)
{
	if (depth == 0)
		return work(x);
	return descend(x + 1, depth - 1) + work(depth);
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

static void *run(void *alternate)
{
	const stack_t stack = { .ss_sp = alternate, .ss_size = ALTERNATE_BYTES };
	const struct itimerval period = { { 0, PERIOD_US }, { 0, PERIOD_US } };

	sigaltstack(&stack, NULL);
	handle(SIGALRM, SA_ONSTACK | SA_RESTART);
	handle(SIGPROF, SA_ONSTACK | SA_RESTART | SA_NODEFER);
	setitimer(ITIMER_REAL, &period, NULL);
	setitimer(ITIMER_PROF, &period, NULL);
	for (unsigned long x = 0;; x++)
		sink += descend(x, (unsigned int)(x % 20));
	return NULL;
}

/* Signals go to the one thread that does not block them. */
int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t signals;
	char *memory = mmap(NULL, ALTERNATE_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return EXIT_FAILURE;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, memory + ALTERNATE_BYTES, STACK_BYTES);
	if (pthread_create(&thread, &attributes, run, memory) != 0)
		return EXIT_FAILURE;
	sigfillset(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	sleep(MAX_SECONDS);
	return 0;
}

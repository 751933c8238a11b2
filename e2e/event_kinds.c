/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that are events, each of one kind: event_kinds LOAD. Their functions are known by name. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUSY_S 2.5
#define NR_AT_ONCE 16
#define NR_RECEIVERS 200

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spin(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

__attribute__((noinline)) static void burn_in_a_pod(void)
{
	while (seconds_of(CLOCK_PROCESS_CPUTIME_ID) < BUSY_S)
		spin();
}

__attribute__((noinline)) static void spin_within_a_limit(void)
{
	for (;;)
		spin();
}

__attribute__((noinline)) static void make_children(void)
{
	double end = seconds_of(CLOCK_MONOTONIC) + BUSY_S;

	while (seconds_of(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < NR_AT_ONCE; i++)
			if (fork() == 0)
				_exit(0);
		while (wait(NULL) > 0)
			;
	}
}

/* Returns a socket of a broadcast address of this host. The first one chooses the port. */
static int open_receiver(struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;
	socklen_t len = sizeof(*address);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)address, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)address, &len) < 0)
		_exit(1);
	return fd;
}

/* The software interrupt brings each packet to many sockets. Nobody reads them. */
__attribute__((noinline)) static void send_to_many(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(0x7fffffff) };
	double end = seconds_of(CLOCK_MONOTONIC) + BUSY_S;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;

	for (int i = 0; i < NR_RECEIVERS; i++)
		open_receiver(&address);
	if (setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)) < 0)
		_exit(1);
	while (seconds_of(CLOCK_MONOTONIC) < end)
		sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address));
}

int main(int argc, char **argv)
{
	static const struct load {
		const char *name;
		void (*run)(void);
	} loads[] = {
		{ "pod", burn_in_a_pod },
		{ "limit", spin_within_a_limit },
		{ "forks", make_children },
		{ "packets", send_to_many },
	};

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (strcmp(argv[1], loads[i].name) == 0)
			loads[i].run();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop_requested;

static void on_stop(int signal_number)
{
	stop_requested = 1;
	signal(signal_number, SIG_DFL);
}

void signals_setup(void)
{
	struct sigaction action = { .sa_handler = on_stop };
	struct sigaction hang_up;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) /* nohup(1) */
		sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

bool signals_stop_requested(void)
{
	return stop_requested != 0;
}

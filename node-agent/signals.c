/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t reload_requested;

static void on_stop(int signal_number)
{
	stop_requested = 1;
	signal(signal_number, SIG_DFL);
}

static void on_reload(int signal_number)
{
	(void)signal_number;
	reload_requested = 1;
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

void signals_reload_on_hang_up(void)
{
	struct sigaction action = { .sa_handler = on_reload, .sa_flags = SA_RESTART };

	sigemptyset(&action.sa_mask);
	sigaction(SIGHUP, &action, NULL);
}

bool signals_take_reload(void)
{
	bool is_requested = reload_requested != 0;

	reload_requested = 0;
	return is_requested;
}

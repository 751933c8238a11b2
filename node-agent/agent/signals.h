/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, termination and hang-up: the first signal asks for an orderly end, the second one of
 * its kind ends the process at once. For a program that can reload its configuration, a hang-up
 * asks for a reload instead.
 *
 * The orderly end may take SIGNALS_END_NS. Then the process is ended, whatever its threads do:
 * by a timer of the kernel, and by the thread "signals" of this module, in case that no thread
 * can take the timer's signal. This thread also takes signals if the first thread cannot, and
 * ticks for base/heartbeat.h. */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define SIGNALS_END_NS (7 * NSEC_PER_SEC)

/* Has a function called as soon as the end is asked for, in the signal's handler; NULL: none. */
void signals_on_stop(void (*call)(void));

/* Installs the handlers for SIGINT, SIGTERM and, unless it is ignored, SIGHUP, and starts the
 * thread. Ignores SIGPIPE and SIGXFSZ, whose causes are errors of write(2) as well. If the orderly
 * end takes too long, a line on standard error has `loss` (static), and the exit status is
 * `status`. Errors: -EAGAIN, -ENOMEM. */
int signals_setup(const char *loss, int status) must_check;

/* Makes SIGHUP ask for a reload instead of the end, even if it was ignored: nohup(1) only means
 * that it should not end the program. */
void signals_reload_on_hang_up(void);

/* Returns whether a reload was asked for since the last call. */
bool signals_take_reload(void);

/* Returns whether the end was asked for. */
bool signals_stop_requested(void);

/* Returns when the end was asked for, by CLOCK_MONOTONIC; UINT64_MAX if it was not. */
uint64_t signals_stop_ns(void);

/* Call it when the process is about to exit with `status`. Only memory and files are left to be
 * released, so if a thread hangs, the process soon ends without that, and nothing is lost. Flushes
 * standard output. */
void signals_done(int status);

#endif

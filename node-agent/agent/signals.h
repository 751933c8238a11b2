/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, termination and hang-up: the first asks for an orderly end, the second of its
 * kind ends the process at once. For a program that can reload its configuration, a
 * hang-up asks for that instead.
 *
 * The orderly end has SIGNALS_END_NS. Then the process is ended, whatever its threads do: by a
 * timer of the kernel, and by a thread of this module, "signals", in case that the timer's signal
 * reaches nobody. That thread is the second one that takes signals, for the case that the first
 * thread cannot, and it ticks for base/heartbeat.h. */
#ifndef AGENT_SIGNALS_H
#define AGENT_SIGNALS_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define SIGNALS_END_NS (7 * NSEC_PER_SEC)

/* Installs the handlers for SIGINT, SIGTERM and, unless it is ignored, SIGHUP, and starts the
 * thread; and ignores SIGPIPE and SIGXFSZ, whose causes are errors of write(2) as well. When the
 * orderly end takes too long, `loss` is what a line on standard error says of it, and the exit
 * status is `status`; `loss` is static. Errors: -EAGAIN, -ENOMEM. */
int signals_setup(const char *loss, int status) must_check;

/* From now on SIGHUP asks for a reload, and ends nothing: also where it was ignored, since nohup(1)
 * means no more than that. */
void signals_reload_on_hang_up(void);

/* Returns whether a reload was asked for since the last call. */
bool signals_take_reload(void);

/* Returns whether the end was asked for. */
bool signals_stop_requested(void);

/* Returns when the end was asked for, by CLOCK_MONOTONIC; UINT64_MAX if it was not. */
uint64_t signals_stop_ns(void);

/* All is done and the process is about to exit with `status`, asked for or not. What is left is to
 * free and to close: nothing is lost when a thread that hangs keeps it from that, and soon it ends
 * without. Writes out what standard output still holds. */
void signals_done(int status);

#endif

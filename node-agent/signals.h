/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, termination and hang-up: the first asks for an orderly end, the second ends the process at once. For a
 * program that can reload its configuration, a hang-up asks for that instead. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Installs the handlers for SIGINT, SIGTERM and, unless it is ignored, SIGHUP; and ignores SIGPIPE and SIGXFSZ, whose causes
 * are errors of write(2) as well. */
void signals_setup(void);

/* From now on SIGHUP asks for a reload, and ends nothing: also where it was ignored, since nohup(1) means no more
 * than that. */
void signals_reload_on_hang_up(void);

/* Whether a reload was asked for since the last call. */
bool signals_take_reload(void);

/* Whether the end was asked for. */
bool signals_stop_requested(void);

#endif

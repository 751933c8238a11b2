/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C, termination and hang-up: the first asks for an orderly end, the second ends the process at once. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Installs the handlers for SIGINT, SIGTERM and, unless it is ignored, SIGHUP; and ignores SIGPIPE and SIGXFSZ, whose causes
 * are errors of write(2) as well. */
void signals_setup(void);

/* Whether the end was asked for. */
bool signals_stop_requested(void);

#endif

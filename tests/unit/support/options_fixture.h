/* SPDX-License-Identifier: Apache-2.0 */
/* Options loaded from words, a file and the environment, as the tests of them want it. */
#ifndef TESTS_UNIT_OPTIONS_FIXTURE_H
#define TESTS_UNIT_OPTIONS_FIXTURE_H

#include "config/option_fields.h"
#include "config/options.h"

/* A directory of the test program's own, with a configuration file in it when a test wants one. */
extern char temp_dir[];
extern char config_path[64];

/* Setup and teardown of the group. */
int make_temp_dir(void **state);
int remove_temp_dir(void **state);

/* Setup of a test: without the variables that options come from. */
int start_clean(void **state);

void write_config(const char *text);

/* Loads from words separated by blanks; "@" stands for the configuration file's path. */
struct options load_ok(enum command_id command, const char *words);
void expect_refused(enum command_id command, const char *words, const char *expected);

#endif

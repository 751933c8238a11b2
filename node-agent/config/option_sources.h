/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of options. Each appends entries to a list and checks no values: the loader does. A source
 * that meets what it cannot read appends a refusal, at which the loader stops. An entry comes only from
 * options that the command takes.
 *
 * Errors of all of them: -ENOSPC for too many entries, -ENOMEM. */
#ifndef CONFIG_OPTION_SOURCES_H
#define CONFIG_OPTION_SOURCES_H

#include "base/err.h"
#include "config/entry_list.h"
#include "config/options.h"

/* source_command_line.c: the arguments, words that are no options included. */
int source_read_command_line(const struct options_input *input, struct entry_list *entries)
	must_check;

/* source_file.c: a YAML file with the options of a command, or of COMMAND_DESTINATION. */
int source_read_file(enum command_id command, const char *path, struct entry_list *entries)
	must_check;

/* source_environment.c: variables, those of OpenTelemetry among them. */
int source_read_environment(enum command_id command, struct entry_list *entries) must_check;

/* source_cluster.c: what each pod of Kubernetes is told about its node and service account. */
int source_read_cluster(const struct options_input *input, struct entry_list *entries) must_check;

#endif

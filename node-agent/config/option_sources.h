/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of options. Each source appends entries to a list, for options that the command
 * takes. A source does not check values; the loader does. Where a source cannot read its input, it
 * appends a refusal, at which the loader stops.
 *
 * Errors of all of them: -ENOSPC for too many entries, -ENOMEM. */
#ifndef CONFIG_OPTION_SOURCES_H
#define CONFIG_OPTION_SOURCES_H

#include "base/err.h"
#include "config/entry_list.h"
#include "config/options.h"

/* Reads the arguments, including words that are not options. */
int source_read_command_line(const struct options_input *input, struct entry_list *entries)
	must_check;

/* Reads a YAML file with the options of a command, or of a destination (COMMAND_DESTINATION). */
int source_read_file(enum command_id command, const char *path, struct entry_list *entries)
	must_check;

/* Reads environment variables, mostly OpenTelemetry's. */
int source_read_environment(enum command_id command, struct entry_list *entries) must_check;

/* Finds the kubelet and the credentials for it, if this is a pod of Kubernetes. */
int source_read_cluster(const struct options_input *input, struct entry_list *entries) must_check;

#endif

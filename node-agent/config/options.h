/* SPDX-License-Identifier: Apache-2.0 */
/* What the user asked for: one struct, filled from the command line, a YAML file, the environment and the
 * defaults, in this order of precedence. Which options there are says option_table.c, and nothing else. */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include "base/err.h"
#include "base/http_client.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "config/destination.h"
#include "config/option_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The commands that take options; an option lists its commands as a mask. */
enum command_id {
	COMMAND_RECORD = 1,
	COMMAND_AGENT = 2,
	COMMAND_DOCTOR = 4,
	COMMAND_VERSION = 8,
	COMMAND_EXPORT = 16,
	COMMAND_HEALTH = 32,
	COMMAND_ALLOW_PERF = 64,
};

enum option_capture {
	OPTION_CAPTURE_AUTO,
	OPTION_CAPTURE_BPF,
	OPTION_CAPTURE_PERF,
};

enum option_demangle {
	OPTION_DEMANGLE_NONE,
	OPTION_DEMANGLE_SHORT,
	OPTION_DEMANGLE_FULL,
};

/* Where options come from. */
struct options_input {
	enum command_id command;
	char *const *args; /* behind the command's name */
	size_t nr_args;
	/* Mounted into each pod: ca.crt and token. NULL: where Kubernetes puts it. */
	const char *service_account_dir;
	/* The format that the name of an output tells, "" for standard output, NULL for none; no function: all tell one. */
	const char *(*format_told)(const char *path);
	const char *output_extensions; /* for the message when a name tells none */
};

/* Strings are owned; NULL: not given and no default. */
struct options {
	uint32_t frequency_hz;
	uint64_t duration_ns; /* 0: until Ctrl-C */
	struct string_list outputs;
	char *output_format; /* of those whose name does not tell it: svg, pprof or folded */

	/* Target; when all of it is empty, the whole machine. */
	struct number_list pids;
	struct number_list tids;
	struct number_list cpus;
	struct string_list namespaces;
	struct string_list pods; /* "NAME" or "NAMESPACE/NAME" */
	struct string_list containers; /* name, or ID or the first 12 or more digits of it */
	struct string_list selectors; /* of labels; not checked here */
	struct string_list cgroups;
	struct string_list excluded_namespaces;
	struct string_list excluded_containers;
	struct string_list excluded_selectors;
	struct string_list comms;
	bool include_idle;
	struct string_list command; /* program and arguments behind "--" */

	/* Recorded profiles that `export` sends. */
	struct string_list files;
	bool at_now; /* as if they were recorded now */
	uint64_t wait_ns; /* how long it tries */

	/* Whose CPU time it is. */
	char *kubelet_url;
	char *kubelet_ca_file;
	char *kubelet_token_file;
	enum http_verify kubelet_verify;
	char *node_name;
	char *cgroup_root;
	char *pod_logs; /* absolute: where the kubelet writes containers' logs */
	struct string_list
		pod_labels; /* keys that become attributes; "*" at the end stands for any end */
	struct string_list pod_annotations; /* the same */

	/* Where profiles are sent. */
	struct destination export; /* the main destination */
	struct string_list destinations; /* files of more of them */
	struct destination *others; /* owned; what the files say */
	size_t nr_others;
	char *queue_dir; /* absolute; NULL: profiles wait in memory */
	uint64_t queue_max; /* bytes */
	uint64_t export_interval_ns;
	char *listen; /* "unix:/PATH" or "HOST:PORT", a loopback address; NULL: nothing listens */
	char *metrics_listen; /* "ADDRESS:PORT" or "*:PORT"; NULL: nothing listens */

	/* What `health` asks. */
	bool asks_ready; /* not only whether the agent is alive */
	uint64_t health_timeout_ns; /* for all of it */

	char *paranoid_file; /* of allow-perf; NULL: where it always is */

	enum option_capture capture; /* how samples are taken */
	uint32_t stack_copy_bytes; /* by perf, of each user stack */

	/* What functions are called. */
	enum option_demangle demangle;
	bool inlines; /* inlined functions and source lines, from debug information */
	char *debug_dir; /* absolute */
	char *debuginfod_urls; /* separated by spaces */
	char *debuginfod_cache_dir; /* absolute */
	uint64_t debuginfod_cache_max; /* bytes */

	uint64_t symbol_memory_max; /* bytes */
	uint64_t unwind_memory_max; /* bytes */
	uint64_t tables_memory_max; /* bytes; of both together, and of who reads large files */
	char *unwind_cache_dir;
	enum log_level log_level;
	bool quiet;
	bool json;
	char *config_file;
	bool help;
	bool help_all;

	struct strbuf warnings; /* what was passed over, in one line; empty: nothing */
	struct options_input input; /* what they were loaded from; its texts are borrowed */
};

/* Reads all sources. When --help or --help-all was given only these two fields count.
 * On failure `message` is one line that says what is wrong, where, and what to write instead.
 * Errors: -EINVAL for anything the user must correct, -ENOMEM. */
int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message) must_check;
void options_done(struct options *options);

/* Appends the names of the command's options that two loads of it disagree about, as "--idle, --pod": either those
 * that a running agent can change, or the others. */
void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names);

/* Whether a destination wants to know when samples were taken. */
bool options_want_times(const struct options *options);

/* Appends the help of a command: its usual options, or all of them. */
void options_help(enum command_id command, bool all, struct strbuf *out);

#endif

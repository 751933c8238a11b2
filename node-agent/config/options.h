/* SPDX-License-Identifier: Apache-2.0 */
/* All options of the user, in one struct. option_table.c lists the options, option_loader.h fills
 * the struct, and option_fields.h frees and compares it. */
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
	/* Not a command, but a file of --destination, which has options as well. */
	COMMAND_DESTINATION = 128,
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

/* Input of a load. */
struct options_input {
	enum command_id command;
	char *const *args; /* behind the command's name */
	size_t nr_args;
	/* Directory where Kubernetes mounts ca.crt and token of a pod's service account; NULL:
	 * none. */
	const char *service_account_dir;
	/* Returns the format that an output's name implies, "" for standard output, NULL for none.
	 * NULL: outputs are not checked. */
	const char *(*format_from_name)(const char *path);
	const char *output_extensions; /* for the message about a name that implies no format */
};

/* Strings are owned; NULL means not given, without a default. */
struct options {
	uint32_t frequency_hz;
	uint64_t duration_ns; /* 0: until Ctrl-C */
	struct string_list outputs;
	char *output_format; /* svg, pprof or folded; for outputs whose names imply none */

	/* The target. If all of these are empty, it is the whole machine. */
	struct number_list pids;
	struct number_list tids;
	struct number_list cpus;
	struct string_list namespaces;
	struct string_list pods; /* "NAME" or "NAMESPACE/NAME" */
	struct string_list containers; /* name, ID, or the first 12 or more digits of an ID */
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
	bool at_now; /* send them as if they were recorded now */
	uint64_t wait_ns; /* time limit for delivery */

	/* The assignment of samples to pods. */
	char *kubelet_url;
	char *kubelet_ca_file;
	char *kubelet_token_file;
	enum http_verify kubelet_verify;
	char *node_name;
	char *cgroup_root;
	char *pod_logs; /* absolute; the directory of the containers' logs */
	/* Keys that become attributes; a "*" at the end matches any rest. */
	struct string_list pod_labels;
	struct string_list pod_annotations;

	/* Export. */
	struct destination *destinations; /* owned; each has an endpoint */
	size_t nr_destinations;
	/* The destination that the options describe without a file. It is the first element of
	 * the list. Without an endpoint, it follows the last element, for options_diff() only. */
	struct destination *direct;
	struct string_list destination_files; /* one for each further destination */
	/* "key=value", no key twice. All destinations get them; their own attributes take
	 * precedence. */
	struct string_list resource_attributes;
	char *queue_dir; /* absolute; NULL: profiles wait in memory */
	uint64_t queue_max; /* bytes */
	uint64_t export_interval_ns;
	char *listen; /* "unix:/PATH" or "HOST:PORT", a loopback address; NULL: nothing listens */
	char *metrics_listen; /* "ADDRESS:PORT" or "*:PORT"; NULL: nothing listens */

	/* The command `health`. */
	bool asks_ready; /* ask whether the agent is ready, not only alive */
	uint64_t health_timeout_ns; /* for the whole check */

	char *paranoid_file; /* of allow-perf; NULL: the one in /proc/sys/kernel */

	enum option_capture capture;
	uint32_t stack_copy_bytes; /* bytes that perf copies of each user stack */

	/* Names of functions. */
	enum option_demangle demangle;
	bool inlines; /* read inlined functions and source lines from debug information */
	unsigned int
		runtimes; /* frames by name: 1 << (enum runtime_kind - 1) (bpf/shared/runtime.h) */
	char *debug_dir; /* absolute */
	char *debuginfod_urls; /* separated by spaces */
	char *debuginfod_cache_dir; /* absolute */
	uint64_t debuginfod_cache_max; /* bytes */

	uint64_t symbol_memory_max; /* bytes */
	uint64_t unwind_memory_max; /* bytes */
	uint64_t tables_memory_max; /* bytes; for both together and the workers for large files */
	char *unwind_cache_dir;
	enum log_level log_level;
	bool quiet;
	bool json;
	char *config_file;
	bool help;
	bool help_all;

	struct strbuf warnings; /* one line about settings that were ignored; empty for none */
	struct options_input input; /* the input of the load; its strings are borrowed */
};

/* Returns whether a destination gets the time of each sample. */
static inline bool options_want_times(const struct options *options)
{
	for (size_t i = 0; i < options->nr_destinations; i++) {
		if (options->destinations[i].timestamps)
			return true;
	}
	return false;
}

#endif

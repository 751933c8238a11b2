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
	COMMAND_QUERY = 128,
	COMMAND_LS = 256,
	COMMAND_DUMP = 1024,
	COMMAND_TOP = 2048,
	COMMAND_DIFF = 4096,
	COMMAND_TIMELINE = 8192,
	COMMAND_PIN = 16384,
	COMMAND_FINDINGS = 32768,
	COMMAND_UI = 65536,
	COMMAND_COPY_HEAP = 131072,
	/* Not a command, but a file of --destination, which has options as well. */
	COMMAND_DESTINATION = 512,
};

enum option_kind {
	OPTION_KIND_CPU,
	OPTION_KIND_OFF_CPU,
	OPTION_KIND_LOCK,
	OPTION_KIND_WALL,
	OPTION_KIND_GROWTH,
	OPTION_KIND_ALLOC,
	OPTION_KIND_HEAP,
	OPTION_KIND_IRQ,
	OPTION_KIND_RUN_QUEUE, /* read as OPTION_KIND_OFF_CPU with two reasons */
	OPTION_KIND_EVENT, /* this and the following: capture/perf_events/counted_event.h */
};

/* What is asked of a record. */
enum option_asked_kind {
	OPTION_ASKED_CPU,
	OPTION_ASKED_OFF_CPU,
	OPTION_ASKED_LOCK,
	OPTION_ASKED_CONTENTIONS, /* the number of waits for locks */
	OPTION_ASKED_GROWTH,
	OPTION_ASKED_ALLOC,
	OPTION_ASKED_ALLOC_OBJECTS, /* their number */
	OPTION_ASKED_HEAP,
	OPTION_ASKED_HEAP_OBJECTS, /* their number */
	OPTION_ASKED_IRQ,
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

/* What the rows of `top` stand for. */
enum option_by {
	OPTION_BY_APPLICATION,
	OPTION_BY_WORKLOAD,
	OPTION_BY_POD,
	OPTION_BY_CONTAINER,
	OPTION_BY_PROCESS,
	OPTION_BY_THREAD,
	OPTION_BY_COMM,
	OPTION_BY_FUNCTION,
};

/* Frames of the kernel in outputs. */
enum option_kernel {
	OPTION_KERNEL_ALL,
	OPTION_KERNEL_ONLY,
	OPTION_KERNEL_HIDE,
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
	unsigned int reasons; /* of waits: 1 << (enum wait_reason - 1) (profile/wait_reason.h) */
	uint64_t min_block_ns; /* shorter waits do not count */
	bool wakers; /* stacks of those who ended the waits */
	struct string_list outputs;
	char *output_format; /* svg, pprof and so on; for outputs whose names imply none */

	/* How outputs show a profile (profile/view.h). */
	struct string_list groups; /* labels */
	bool bottom_up;
	enum option_kernel kernel;

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

	/* The local record, as the agent writes it. */
	char *store_dir; /* absolute; NULL: none is written */
	uint64_t store_max; /* bytes of all files */
	uint64_t store_per_day; /* bytes; 0: no limit */
	uint64_t store_age_ns;
	bool store_cpu; /* keep the CPU of each sample */
	bool gpu; /* GPUs are wanted: the agent reads them each second */
	char *gpu_library; /* path or name of NVIDIA's library */
	struct string_list triggers; /* rules (store/trigger_rule.h); not checked here */
	uint64_t trigger_around_ns; /* is pinned before and after */
	char *trigger_webhook; /* URL; NULL: none */
	char *trigger_webhook_file; /* has the URL; NULL: none */
	uint32_t trigger_per_hour; /* at most so many firings of a rule */
	uint32_t trigger_boost_hz; /* samples per second on each CPU after one; 0: as always */

	/* Queries of records. */
	struct string_list stores; /* directories and files */
	/* Times (store/event_reader.h), at most one; of `diff` at most two, and also files. */
	struct string_list ranges;
	struct string_list label_selectors; /* store/selector.h */
	struct string_list against; /* of the other side of `diff` */
	bool is_absolute; /* `diff` compares amounts, not shares */
	uint32_t max_events; /* that `ls` lists */
	enum option_asked_kind asked_kind;
	uint64_t query_memory_max; /* bytes, to read a record with; 0: no limit */

	/* The command `pin`. */
	bool pin_list; /* list the pins */
	char *pin_remove; /* id of the pin to remove; NULL: none */
	char *pin_note; /* NULL: none */

	/* The command `timeline`. */
	char *timeline_by; /* "vital", "cpu", "slot", "gpu", "gpu-memory" or a label */
	uint64_t step_ns;
	uint32_t max_lines;
	bool throttled; /* show times of throttling, not samples */
	bool gpu_use, gpu_use_memory; /* show what processes use of GPUs, not samples */

	/* The command `ui`. */
	char *ui_listen; /* "unix:/PATH" or "HOST:PORT", a loopback address; port 0: any */

	/* The command `top`. */
	uint64_t interval_ns; /* between two pictures or tables */
	enum option_by by;
	bool once; /* one table, also on a terminal */
	uint32_t iterations; /* tables to print; 0: as usual */
	uint32_t rows; /* of a printed table */

	/* The command `health`. */
	bool asks_ready; /* ask whether the agent is ready, not only alive */
	uint64_t health_timeout_ns; /* for the whole check */

	char *heap_directory; /* of copy-heap */
	char *paranoid_file; /* of allow-perf; NULL: the one in /proc/sys/kernel */

	unsigned int kinds; /* what is profiled: 1 << enum option_kind */
	uint64_t event_period; /* of the kinds from OPTION_KIND_EVENT on; 0: the usual one */
	bool counts_objects; /* and not bytes, of memory */
	const char *heap_library; /* path; NULL: none */
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

/* Returns whether this is profiled. Commands without a choice profile CPU time. */
static inline bool options_want_kind(const struct options *options, enum option_kind kind)
{
	unsigned int kinds = options->kinds ? options->kinds : 1u << OPTION_KIND_CPU;

	return kinds >> kind & 1;
}

/* Returns whether events are counted, instead of CPU time. */
static inline bool options_want_event(const struct options *options)
{
	return options->kinds >> OPTION_KIND_EVENT != 0;
}

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

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_table.h"

#include "base/parse.h"
#include "config/options.h"

#include <string.h>

#define RECORD COMMAND_RECORD
#define AGENT COMMAND_AGENT
#define TOP COMMAND_TOP
#define PROFILERS (COMMAND_RECORD | COMMAND_AGENT | COMMAND_TOP)
#define SYMBOLIZERS (PROFILERS | COMMAND_DUMP)
#define EXPORT COMMAND_EXPORT
#define EXPORTERS (COMMAND_AGENT | COMMAND_EXPORT)
#define SENDERS (COMMAND_AGENT | COMMAND_EXPORT | COMMAND_DOCTOR)
#define WORKERS (PROFILERS | COMMAND_DOCTOR | COMMAND_DUMP)
#define CONFIGURED (WORKERS | COMMAND_EXPORT)
#define HEALTH COMMAND_HEALTH
#define QUERY COMMAND_QUERY
#define DIFF COMMAND_DIFF
#define TIMELINE COMMAND_TIMELINE
#define QUERIES (QUERY | DIFF | TIMELINE | COMMAND_FINDINGS)
#define PICTURES (RECORD | QUERY | DIFF)
#define PIN COMMAND_PIN
#define UI COMMAND_UI
#define READERS (QUERIES | COMMAND_LS | PIN)
#define COPY COMMAND_COPY_HEAP
#define ALL (CONFIGURED | HEALTH | COMMAND_ALLOW_PERF | COPY | COMMAND_VERSION | READERS | UI)

/* A row of the table: an option, its field in struct options and its type of value, then the
 * members that are not empty. */
#define OPTION(name_, letter_, commands_, field_, kind_, ...)                                      \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .commands = (commands_),                     \
		.field = offsetof(struct options, field_),                                         \
		.field_bytes = sizeof(((struct options *)0)->field_), .type = &value_##kind_,      \
		__VA_ARGS__                                                                        \
	}

/* A row for an option that each destination has. The field is in struct destination. */
#define DESTINATION(name_, commands_, field_, kind_, ...)                                          \
	{                                                                                          \
		.name = (name_), .commands = (commands_) | COMMAND_DESTINATION,                    \
		.field = offsetof(struct destination, field_),                                     \
		.field_bytes = sizeof(((struct destination *)0)->field_), .type = &value_##kind_,  \
		__VA_ARGS__                                                                        \
	}

/* OpenTelemetry's variables: the one for profiles, then the one for all signals. */
#define OTLP_ENV(name) .env = { "OTEL_EXPORTER_OTLP_PROFILES_" name, "OTEL_EXPORTER_OTLP_" name }

/* The rows have the order of the help. An option whose default depends on the command has several
 * rows. */
const struct option option_table[] = {
	OPTION("duration", 'd', RECORD, duration_ns, duration_or_zero, .fallback = "10s",
	       .metavar = "TIME", .help = "how long to sample; 0: until Ctrl-C", .is_usual = true),
	OPTION("frequency", 'F', RECORD, frequency_hz, frequency, .fallback = "99", .metavar = "HZ",
	       .help = "samples per second on each CPU", .is_usual = true),
	OPTION("kind", 0, RECORD, kinds, kinds, .fallback = "cpu", .metavar = "KIND",
	       .help = "cpu|offcpu|lock|heap|hw:EVENT|...", .is_usual = true, .not_in_file = true),
	OPTION("event-period", 0, RECORD, event_period, event_period, .metavar = "N",
	       .help = "hw:EVENT, sw:EVENT: events from sample to sample", .not_in_file = true),
	OPTION("reason", 0, RECORD, reasons, reasons, .fallback = "all", .metavar = "LIST",
	       .help = "offcpu, wall: only these: disk, running, ...", .not_in_file = true),
	OPTION("min-block", 0, RECORD, min_block_ns, duration_or_zero, .fallback = "0",
	       .metavar = "TIME", .help = "offcpu, lock: only waits that take so long",
	       .not_in_file = true),
	OPTION("waker", 0, RECORD, wakers, flag,
	       .help = "offcpu, lock: add the stack of who ended the wait", .not_in_file = true),
	OPTION("objects", 0, RECORD, counts_objects, flag,
	       .help = "alloc, heap: the number of objects, not bytes", .not_in_file = true),
	OPTION("heap-library", 0, RECORD, heap_library, file, .metavar = "FILE",
	       .help = "alloc, heap: LD_PRELOAD for the command", .not_in_file = true),
	OPTION("frequency", 'F', AGENT, frequency_hz, frequency, .fallback = "19", .metavar = "HZ",
	       .help = "samples per second on each CPU", .is_usual = true),
	OPTION("kind", 0, AGENT, kinds, kinds, .fallback = "cpu", .metavar = "KIND,...",
	       .help = "cpu,offcpu,lock,alloc,heap,irq,...", .is_usual = true),
	OPTION("reason", 0, AGENT, reasons, reasons, .fallback = "all", .metavar = "LIST",
	       .help = "offcpu: only waits for this: disk, futex, ..."),
	OPTION("min-block", 0, AGENT, min_block_ns, duration_or_zero, .fallback = "0",
	       .metavar = "TIME", .help = "offcpu, lock: only waits that take so long"),
	OPTION("frequency", 'F', TOP, frequency_hz, frequency, .fallback = "49", .metavar = "HZ",
	       .help = "samples per second on each CPU"),
	OPTION("kind", 0, TOP, kinds, kinds, .fallback = "cpu,offcpu", .metavar = "KIND,...",
	       .help = "cpu: leave out what threads wait for", .not_in_file = true),
	OPTION("interval", 'i', TOP, interval_ns, interval, .fallback = "2s", .metavar = "TIME",
	       .help = "time between two pictures", .is_usual = true, .not_in_file = true),
	OPTION("by", 0, TOP, by, by, .fallback = "application", .metavar = "WHAT",
	       .help = "rows by: pod, process, ...", .is_usual = true, .not_in_file = true),
	OPTION("once", 0, TOP, once, flag, .help = "print one table and exit", .is_usual = true,
	       .not_in_file = true),
	OPTION("iterations", 'n', TOP, iterations, count, .metavar = "N",
	       .help = "print N tables and exit", .not_in_file = true),
	OPTION("rows", 0, TOP, rows, count, .fallback = "10", .metavar = "N",
	       .help = "rows of a printed table", .is_usual = true, .not_in_file = true),
	OPTION("range", 0, TOP, ranges, word, .metavar = "RANGE",
	       .help = "a time of the local record instead of now", .is_usual = true,
	       .not_in_file = true),
	OPTION("store", 0, READERS | TOP | UI, stores, store_path,
	       .fallback = "/var/lib/flamelet/record", .metavar = "PATH", .help = "record to read",
	       .is_usual = true, .not_in_file = true),
	OPTION("events", 0, COMMAND_LS, max_events, value_limit, .fallback = "20", .metavar = "N",
	       .help = "list the N worst events of the range", .is_usual = true,
	       .not_in_file = true),
	OPTION("listen", 0, UI, ui_listen, ui_listen, .fallback = "127.0.0.1:0",
	       .metavar = "ADDRESS", .help = "port 0: any; or unix:/PATH", .is_usual = true,
	       .not_in_file = true),
	OPTION("note", 0, PIN, pin_note, name, .metavar = "TEXT", .help = "why it is pinned",
	       .is_usual = true, .not_in_file = true),
	OPTION("list", 0, PIN, pin_list, flag, .help = "list the pins", .is_usual = true,
	       .not_in_file = true),
	OPTION("query-memory-max", 0, READERS | TOP | UI | EXPORT, query_memory_max, memory,
	       .env = { "FLAMELET_QUERY_MEMORY_MAX" }, .metavar = "BYTES",
	       .help = "memory to read a record with (else no limit)", .not_in_file = true),
	OPTION("remove", 0, PIN, pin_remove, name, .metavar = "ID", .help = "remove a pin",
	       .is_usual = true, .not_in_file = true),
	OPTION("store", 0, EXPORT, stores, store_path, .metavar = "PATH",
	       .help = "send a range of this record, no files", .is_usual = true,
	       .not_in_file = true),
	OPTION("select", 's', QUERIES | TOP | EXPORT, label_selectors, word, .metavar = "SELECTOR",
	       .help = "only samples with these labels: '{pod=~\"web.*\"}'", .is_usual = true,
	       .not_in_file = true),
	OPTION("against", 'a', DIFF, against, word, .metavar = "SELECTOR",
	       .help = "compare --select with these samples instead", .is_usual = true,
	       .not_in_file = true),
	OPTION("kind", 0, QUERY | DIFF | TIMELINE, asked_kind, asked_kind, .fallback = "cpu",
	       .metavar = "KIND", .help = "cpu, offcpu, lock, alloc, heap, ...",
	       .not_in_file = true),
	OPTION("absolute", 0, DIFF, is_absolute, flag,
	       .help = "compare time per second, not shares of it", .is_usual = true,
	       .not_in_file = true),
	OPTION("by", 0, TIMELINE, timeline_by, name, .fallback = "vital", .metavar = "WHAT",
	       .help = "vital, cpu, slot, gpu, or a label", .is_usual = true, .not_in_file = true),
	OPTION("step", 0, TIMELINE, step_ns, duration, .fallback = "10s", .metavar = "TIME",
	       .help = "time that a row stands for", .is_usual = true, .not_in_file = true),
	OPTION("lines", 0, TIMELINE, max_lines, count, .fallback = "20", .metavar = "N",
	       .help = "values of a label; the rest is one", .is_usual = true, .not_in_file = true),
	OPTION("throttled", 0, TIMELINE, throttled, flag,
	       .help = "time for which CPU limits stopped threads", .is_usual = true,
	       .not_in_file = true),
	OPTION("gpu-use", 0, TIMELINE, gpu_use, flag,
	       .help = "percent of a GPU that processes used", .not_in_file = true),
	OPTION("gpu-use-memory", 0, TIMELINE, gpu_use_memory, flag,
	       .help = "memory of GPUs that processes had", .not_in_file = true),
	OPTION("output", 'o', RECORD | QUERY, outputs, output, .metavar = "FILE",
	       .help = "FILE.html, .svg, .pb.gz, -, ... (see --help-all)", .is_usual = true),
	OPTION("output", 'o', DIFF, outputs, output, .metavar = "FILE",
	       .help = ".html, .svg, .folded, .csv or -; repeat it", .is_usual = true),
	OPTION("format", 0, RECORD | QUERY, output_format, output_format, .metavar = "FORMAT",
	       .help = "html, svg, pprof, folded, speedscope, firefox, json, csv"),
	OPTION("format", 0, DIFF, output_format, output_format, .metavar = "FORMAT",
	       .help = "html, svg, folded or csv; for unknown extensions"),
	OPTION("group", 'g', PICTURES, groups, group, .metavar = "LABEL,...",
	       .help = "labels as frames above the stacks: pod,comm", .is_usual = true,
	       .unusual_in = RECORD | DIFF),
	OPTION("bottom-up", 0, PICTURES, bottom_up, flag,
	       .help = "turn stacks round: from functions to their callers"),
	OPTION("kernel", 0, PICTURES, kernel, kernel, .fallback = "all", .metavar = "HOW",
	       .help = "frames of the kernel: all, only or hide"),
	OPTION("pid", 'p', RECORD | QUERIES | TOP, pids, pids, .metavar = "PID,...",
	       .help = "only these processes", .is_usual = true),
	OPTION("pid", 'p', COMMAND_DUMP, pids, pids, .metavar = "PID", .help = "the process",
	       .is_usual = true),
	OPTION("tid", 't', RECORD | TOP, tids, pids, .metavar = "TID,...",
	       .help = "only these threads"),
	OPTION("cpu", 'C', PROFILERS | QUERIES, cpus, cpus, .metavar = "CPUS",
	       .help = "only these CPUs, such as 0-3,8"),
	OPTION("namespace", 0, PROFILERS | QUERIES, namespaces, namespace, .metavar = "NS,...",
	       .help = "only pods in these namespaces", .is_usual = true, .is_reloadable = true),
	OPTION("pod", 0, PROFILERS | QUERIES, pods, pod, .metavar = "[NS/]NAME,...",
	       .help = "only these pods", .is_usual = true, .is_reloadable = true),
	OPTION("container", 0, PROFILERS | QUERIES, containers, container, .metavar = "NAME|ID,...",
	       .help = "only these containers", .is_usual = true, .is_reloadable = true),
	OPTION("selector", 0, PROFILERS | QUERIES, selectors, selector, .metavar = "LABELS",
	       .help = "only pods with these labels: app=web,!canary", .is_usual = true,
	       .unusual_in = TOP | QUERIES, .is_reloadable = true),
	OPTION("cgroup", 0, PROFILERS | QUERIES, cgroups, cgroup, .metavar = "PATH",
	       .help = "only this cgroup and those below; repeat for more", .is_usual = true,
	       .unusual_in = TOP | QUERIES, .is_reloadable = true),
	OPTION("exclude-namespace", 0, PROFILERS, excluded_namespaces, namespace,
	       .metavar = "NS,...", .help = "leave out pods in these namespaces",
	       .is_reloadable = true),
	OPTION("exclude-container", 0, PROFILERS, excluded_containers, container,
	       .metavar = "NAME|ID,...", .help = "leave out these containers",
	       .is_reloadable = true),
	OPTION("exclude-selector", 0, PROFILERS, excluded_selectors, selector, .metavar = "LABELS",
	       .help = "leave out pods with these labels; repeat for more", .is_reloadable = true),
	OPTION("comm", 0, PROFILERS | QUERIES, comms, comm, .metavar = "NAME",
	       .help = "only processes with this name; repeat for more", .is_usual = true),
	OPTION("idle", 'I', PROFILERS, include_idle, flag, .help = "also sample idle CPUs"),
	OPTION("at", 0, EXPORT, at_now, export_time, .fallback = "recorded", .metavar = "WHEN",
	       .help = "time of files: recorded or now", .is_usual = true, .not_in_file = true),
	OPTION("wait", 0, EXPORT, wait_ns, duration_or_zero, .fallback = "1m", .metavar = "TIME",
	       .help = "give up after this time", .is_usual = true, .not_in_file = true),
	DESTINATION("otlp-endpoint", SENDERS, endpoint, endpoint, .metavar = "URL",
		    .help = "URL of the destination: http(s):// or grpc(s)://", .is_usual = true,
		    OTLP_ENV("ENDPOINT")),
	DESTINATION("exporter", SENDERS, exporter, exporter, .fallback = "otlp", .metavar = "NAME",
		    .help = "protocol: otlp or pyroscope", .is_usual = true),
	DESTINATION("otlp-protocol", SENDERS, protocol, protocol, .fallback = "http/protobuf",
		    .metavar = "HOW", .help = "protocol of OTLP: http/protobuf or grpc",
		    OTLP_ENV("PROTOCOL"), .env_format = ENV_WORD),
	DESTINATION("otlp-compression", EXPORTERS, compress, compression, .fallback = "gzip",
		    .metavar = "HOW", .help = "compression of requests: gzip or none",
		    OTLP_ENV("COMPRESSION"), .env_format = ENV_WORD),
	DESTINATION("otlp-header", SENDERS, headers, header, .metavar = "HEADER",
		    .help = "HTTP header \"Name: value\" to send; repeat for more",
		    OTLP_ENV("HEADERS"), .env_format = ENV_HEADERS),
	DESTINATION("otlp-header-file", SENDERS, header_file, file, .metavar = "FILE",
		    .help = "file with HTTP headers, one per line; read each time"),
	DESTINATION("otlp-tenant", SENDERS, tenant, tenant, .metavar = "ID",
		    .help = "tenant, sent as X-Scope-OrgID"),
	DESTINATION("otlp-token-file", SENDERS, token_file, file, .metavar = "FILE",
		    .help = "file with the bearer token; read each time"),
	DESTINATION("otlp-ca-file", SENDERS, ca_file, file, .metavar = "FILE",
		    .help = "CA certificates to verify the destination with",
		    OTLP_ENV("CERTIFICATE")),
	DESTINATION("otlp-client-cert", SENDERS, client_cert_file, file, .metavar = "FILE",
		    .help = "file with the client certificate (mutual TLS)",
		    OTLP_ENV("CLIENT_CERTIFICATE")),
	DESTINATION("otlp-client-key", SENDERS, client_key_file, file, .metavar = "FILE",
		    .help = "file with the client certificate's private key",
		    OTLP_ENV("CLIENT_KEY")),
	DESTINATION("otlp-verify", SENDERS, verify, destination_verify, .fallback = "full",
		    .metavar = "HOW",
		    .help = "full (CA and host name), ca-only or insecure (no check)"),
	DESTINATION("otlp-timeout", SENDERS, timeout_ns, duration, .fallback = "10s",
		    .metavar = "TIME", .help = "time limit for one request", OTLP_ENV("TIMEOUT"),
		    .env_format = ENV_MILLISECONDS),
	DESTINATION("otlp-preset", EXPORTERS, preset, preset, .metavar = "NAME",
		    .help = "standard or pyroscope attributes (default: by --exporter)"),
	DESTINATION("exclude-attribute", EXPORTERS, excluded_attributes, attribute_key,
		    .metavar = "KEY,...",
		    .help = "attributes never to send; a final * matches any rest"),
	DESTINATION("sample-attributes", EXPORTERS, sample_attributes, sample_attributes,
		    .fallback = "preset", .metavar = "KEY,...",
		    .help = "attributes to send with samples: keys, all, none, preset"),
	DESTINATION("attribute-values-max", EXPORTERS, attribute_values_max, value_limit,
		    .metavar = "N",
		    .help = "at most N values per attribute, N programs; rest: [other]"),
	OPTION("resource-attribute", 0, EXPORTERS, resource_attributes, attribute,
	       .metavar = "KEY=VAL", .help = "attribute to add to all profiles; repeat for more",
	       .joins_environment = true),
	DESTINATION("resource-attribute", 0, resource_attributes, attribute, .metavar = "KEY=VAL",
		    .help = "attribute to add to all profiles sent there"),
	DESTINATION("otlp-timestamps", EXPORTERS, timestamps, flag,
		    .help = "send the time of each sample instead of summed counts"),
	DESTINATION("otlp-original-payload", EXPORTERS, original_payload, payload,
		    .fallback = "none", .metavar = "HOW",
		    .help = "pprof (also embed each profile as pprof) or none"),
	DESTINATION("otlp-request-max", EXPORTERS, request_max, request_bytes, .fallback = "3584K",
		    .metavar = "BYTES", .help = "split requests that are larger than this"),
	OPTION("destination", 0, SENDERS, destination_files, destination, .metavar = "FILE",
	       .help = "YAML file of an additional destination; repeat for more"),
	OPTION("queue-dir", 0, SENDERS, queue_dir, directory, .metavar = "DIR",
	       .help = "directory for undelivered profiles (else memory)", .is_usual = true),
	OPTION("queue-max", 0, SENDERS, queue_max, memory, .fallback = "256M", .metavar = "BYTES",
	       .help = "size limit of --queue-dir"),
	OPTION("store", 0, AGENT, store_dir, directory, .metavar = "DIR",
	       .help = "directory for a local record (else none is kept)", .is_usual = true),
	OPTION("store-max", 0, AGENT, store_max, memory, .fallback = "2G", .metavar = "BYTES",
	       .help = "size limit of --store; the oldest hours are removed"),
	OPTION("store-per-day", 0, AGENT, store_per_day, store_rate, .fallback = "100M",
	       .metavar = "BYTES", .help = "fold rare stacks beyond this rate; off: never"),
	OPTION("store-age", 0, AGENT, store_age_ns, duration, .fallback = "7d", .metavar = "TIME",
	       .help = "remove what is older"),
	OPTION("store-cpu", 0, AGENT, store_cpu, flag,
	       .help = "keep the CPU of each sample (takes much more room)"),
	OPTION("gpu", 0, AGENT, gpu, flag, .help = "keep what GPUs and their processes do"),
	OPTION("gpu", 0, COMMAND_DOCTOR, gpu, flag, .help = "warn if GPUs cannot be read"),
	OPTION("gpu-library", 0, AGENT | COMMAND_DOCTOR, gpu_library, name,
	       .fallback = "libnvidia-ml.so.1", .metavar = "FILE",
	       .help = "the GPU driver's library (NVML)"),
	OPTION("trigger", 0, AGENT, triggers, trigger, .metavar = "RULE",
	       .help = "keep the time around it, e.g. 'pod-cpu > 150%'; repeat"),
	OPTION("trigger-around", 0, AGENT, trigger_around_ns, around, .fallback = "30s",
	       .metavar = "TIME", .help = "time that --trigger keeps before and after"),
	OPTION("trigger-per-hour", 0, AGENT, trigger_per_hour, per_hour, .fallback = "6",
	       .metavar = "N", .help = "at most N times an hour for each rule"),
	OPTION("trigger-boost", 0, AGENT, trigger_boost_hz, frequency, .metavar = "HZ",
	       .help = "sample so often for 30 s when --trigger fires"),
	OPTION("trigger-webhook", 0, AGENT, trigger_webhook, webhook, .metavar = "URL",
	       .help = "tell this server (JSON) when --trigger fires"),
	OPTION("trigger-webhook-file", 0, AGENT, trigger_webhook_file, file, .metavar = "FILE",
	       .help = "the same; the first line is the URL"),
	OPTION("export-interval", 0, AGENT, export_interval_ns, duration, .fallback = "15s",
	       .metavar = "TIME", .help = "time between exports", .is_usual = true),
	OPTION("export-interval", 0, EXPORT, export_interval_ns, slice, .fallback = "1s",
	       .metavar = "TIME", .help = "time that a profile of --store covers",
	       .not_in_file = true),
	OPTION("listen", 0, AGENT | HEALTH, listen, listen, .metavar = "ADDRESS",
	       .help = "health and metrics at 127.0.0.1:PORT, unix:/PATH", .is_usual = true),
	OPTION("metrics-listen", 0, AGENT, metrics_listen, metrics_listen, .metavar = "ADDRESS",
	       .help = "serve metrics to other hosts: *:PORT or IP:PORT"),
	OPTION("ready", 0, HEALTH, asks_ready, flag,
	       .help = "ask whether the agent is ready, not only alive", .is_usual = true,
	       .not_in_file = true),
	OPTION("timeout", 0, HEALTH, health_timeout_ns, duration, .fallback = "3s",
	       .metavar = "TIME", .help = "time limit for the command", .is_usual = true,
	       .not_in_file = true),
	OPTION("directory", 0, COPY, heap_directory, name, .metavar = "DIR",
	       .help = "where the library is put", .is_usual = true, .not_in_file = true),
	OPTION("heap-library", 0, COPY, heap_library, file, .metavar = "FILE",
	       .help = "the library (else that of the image)", .is_usual = true,
	       .not_in_file = true),
	OPTION("paranoid-file", 0, COMMAND_ALLOW_PERF, paranoid_file, name, .metavar = "FILE",
	       .help = "file to write instead of /proc/sys/kernel's", .is_usual = true,
	       .not_in_file = true),
	OPTION("kubelet-url", 0, WORKERS, kubelet_url, url, .metavar = "URL",
	       .help = "URL of the node's kubelet, needed for pod names", .is_usual = true,
	       .unusual_in = TOP),
	OPTION("kubelet-ca-file", 0, WORKERS, kubelet_ca_file, file, .metavar = "FILE",
	       .help = "CA certificates to verify the kubelet with"),
	OPTION("kubelet-token-file", 0, WORKERS, kubelet_token_file, file, .metavar = "FILE",
	       .help = "file with the bearer token for the kubelet"),
	OPTION("kubelet-verify", 0, WORKERS, kubelet_verify, verify, .fallback = "full",
	       .metavar = "HOW",
	       .help = "full, ca-only (any host name), pinned (to 1 cert), insecure"),
	OPTION("node-name", 0, WORKERS, node_name, name, .metavar = "NAME",
	       .help = "Kubernetes name of this node", .env = { "NODE_NAME" }),
	OPTION("cgroup-root", 0, WORKERS, cgroup_root, file, .metavar = "DIR",
	       .help = "where the host's cgroups are mounted (found if not set)"),
	OPTION("pod-logs", 0, WORKERS, pod_logs, directory, .fallback = "/var/log",
	       .metavar = "DIR", .help = "log directory, read for pod names without a kubelet"),
	OPTION("pod-label", 0, PROFILERS, pod_labels, label_key, .metavar = "KEY,...",
	       .help = "pod labels to send as attributes: team, example.com/*",
	       .is_reloadable = true),
	OPTION("pod-annotation", 0, PROFILERS, pod_annotations, label_key, .metavar = "KEY,...",
	       .help = "pod annotations to send as attributes", .is_reloadable = true),
	OPTION("capture", 0, WORKERS, capture, capture, .fallback = "auto", .metavar = "HOW",
	       .help = "bpf, perf (older kernels; copies stacks), or auto"),
	OPTION("stack-copy", 0, SYMBOLIZERS, stack_copy_bytes, stack_bytes, .fallback = "32K",
	       .metavar = "BYTES",
	       .help = "bytes of each user stack that perf copies, at most 65528"),
	OPTION("demangle", 0, SYMBOLIZERS, demangle, demangle, .fallback = "short",
	       .metavar = "HOW",
	       .help = "none, short, or full (with template and call parameters)"),
	OPTION("inlines", 0, SYMBOLIZERS, inlines, on_off, .fallback = "on", .metavar = "on|off",
	       .help = "resolve inlined functions and source lines"),
	OPTION("runtimes", 0, WORKERS, runtimes, runtimes, .fallback = "all", .metavar = "LIST",
	       .help = "frames by name: cpython,hotspot,v8, all or none"),
	OPTION("debug-dir", 0, SYMBOLIZERS, debug_dir, directory, .fallback = "/usr/lib/debug",
	       .metavar = "DIR",
	       .help = "separate debug files, searched on host and in containers"),
	OPTION("debuginfod-urls", 0, WORKERS, debuginfod_urls, urls, .metavar = "URLS",
	       .help = "debuginfod servers; $DEBUGINFOD_URLS is ignored"),
	OPTION("debuginfod-cache", 0, WORKERS, debuginfod_cache_dir, directory,
	       .fallback = "/var/cache/flamelet/debuginfod", .metavar = "DIR",
	       .help = "directory for downloaded debug files"),
	OPTION("debuginfod-cache-max", 0, SYMBOLIZERS, debuginfod_cache_max, memory,
	       .fallback = "1G", .metavar = "BYTES", .help = "size limit of --debuginfod-cache"),
	OPTION("symbol-memory-max", 0, WORKERS, symbol_memory_max, memory, .fallback = "256M",
	       .metavar = "BYTES", .help = "memory limit of names and symbol tables"),
	OPTION("unwind-memory-max", 0, WORKERS, unwind_memory_max, memory, .fallback = "256M",
	       .metavar = "BYTES", .help = "memory limit of unwind tables in the kernel"),
	OPTION("tables-memory-max", 0, WORKERS, tables_memory_max, memory, .fallback = "1G",
	       .metavar = "BYTES",
	       .help = "limit of all tables, and of workers that read large files"),
	OPTION("unwind-cache", 0, WORKERS, unwind_cache_dir, name, .metavar = "DIR",
	       .help = "directory that keeps unwind tables and source lines"),
	OPTION("log-level", 0, SYMBOLIZERS | EXPORT, log_level, log_level, .fallback = "info",
	       .metavar = "LEVEL", .help = "error, warn, info or debug"),
	OPTION("config", 'c', CONFIGURED | HEALTH, config_file, file, .metavar = "FILE",
	       .help = "YAML file with lines like \"frequency: 19\"", .is_usual = true,
	       .not_in_file = true),
	OPTION("quiet", 'q', RECORD, quiet, flag, .help = "no progress line and no summary",
	       .is_usual = true),
	OPTION("quiet", 'q', QUERY, quiet, flag, .help = "print no summary", .is_usual = true),
	OPTION("quiet", 'q', DIFF, quiet, flag, .help = "print no table", .is_usual = true),
	OPTION("json", 0,
	       COMMAND_DOCTOR | COMMAND_DUMP | EXPORT | COMMAND_LS | TOP | DIFF | TIMELINE | PIN |
		       COMMAND_FINDINGS,
	       json, flag, .help = "print one JSON object, for scripts", .is_usual = true,
	       .not_in_file = true),
	OPTION("help", 'h', ALL, help, flag, .help = "show help with the common options",
	       .not_in_file = true),
	OPTION("help-all", 0, ALL, help_all, flag, .help = "show help with all options",
	       .is_usual = true, .not_in_file = true),
};

const size_t nr_option_rows = array_len(option_table);

const struct option option_files = OPTION(NULL, 0, EXPORT, files, word);
const struct option option_ranges = OPTION(NULL, 0, READERS, ranges, word);
const struct option option_command = OPTION(NULL, 0, RECORD, command, word);
const struct option option_is_plain = DESTINATION(NULL, SENDERS, is_plain, flag);

const struct option *option_find(const char *name, unsigned int commands)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if ((option->commands & commands) && strcmp(option->name, name) == 0)
			return option;
	}
	return NULL;
}

const struct option *option_find_letter(char letter, unsigned int commands)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		if ((option_table[i].commands & commands) && option_table[i].letter == letter)
			return &option_table[i];
	}
	return NULL;
}

/* Returns the distance of a word from a name; 0 if the name begins with the word. */
static unsigned int distance_to(const struct option *option, const char *word)
{
	if (*word && strncmp(option->name, word, strlen(word)) == 0)
		return 0;
	return word_distance(word, option->name);
}

const char *option_nearest(const char *word, unsigned int commands, bool in_file)
{
	unsigned int best = (unsigned int)strlen(word) / 2 +
			    1; /* half of the letters are the same */
	const char *name = NULL;

	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!(option->commands & commands) || (in_file && option->not_in_file))
			continue;
		if (distance_to(option, word) < best) {
			best = distance_to(option, word);
			name = option->name;
		}
	}
	return name;
}

const char *command_name(unsigned int commands)
{
	static const char *const names[] = { "record", "agent",		"doctor",     "version",
					     "export", "health",	"allow-perf", "query",
					     "ls",     "a destination", "dump",	      "top",
					     "diff",   "timeline",	"pin",	      "findings",
					     "ui",     "copy-heap" };

	return commands ? names[__builtin_ctz(commands) % array_len(names)] : "";
}

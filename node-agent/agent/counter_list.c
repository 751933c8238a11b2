/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/counter_list.h"

#include "agent/gpu_counters.h"
#include "agent/runtime_counters.h"
#include "agent/store_counters.h"
#include "agent/wait_counters.h"
#include "bpf/shared/stats.h"

#define AT(field) .offset = offsetof(struct counters, field)
#define BPF(STAT) AT(agent.capture.bpf) + sizeof(uint64_t) * (STAT)

/* The first row of a family. More fields may follow: AT(), BY(), IN_NS. */
#define COUNTER(name_, family_, help_, ...)                                                        \
	{                                                                                          \
		.name = name_, .family = "flamelet_" family_, .help = help_,                       \
		.type = METRIC_COUNTER, __VA_ARGS__                                                \
	}
#define GAUGE(name_, family_, help_, ...)                                                          \
	{                                                                                          \
		.name = name_, .family = "flamelet_" family_, .help = help_, .type = METRIC_GAUGE, \
		__VA_ARGS__                                                                        \
	}
/* A further row of the family above. */
#define MORE(name_, value_, ...)                                                                   \
	{                                                                                          \
		.name = name_, .label_value = value_, __VA_ARGS__                                  \
	}
/* Further rows of a family whose first row is a number of the symbol workers. */
#define MORE_WORKERS(suffix, field, unit_)                                                         \
	MORE("jit_worker" suffix, "jit", .unit = unit_, AT(agent.pipeline.jits.worker.field)),     \
		MORE("runtime_worker" suffix, "runtime", .unit = unit_,                            \
		     AT(agent.pipeline.runtimes.worker.field)),                                    \
		MORE("rows_worker" suffix, "rows", .unit = unit_,                                  \
		     AT(agent.tables.slots.worker.field)),                                         \
		MORE("gpu_worker" suffix, "gpu", .unit = unit_,                                    \
		     AT(store.gpu.client.worker.field)),                                           \
		MORE("kubelet_worker" suffix, "kubelet", .unit = unit_,                            \
		     AT(agent.pods.worker.field)),                                                 \
		MORE("export_worker" suffix, "export", .unit = unit_, AT(exporter.worker.field))
#define BY(label_, value_) .label = label_, .label_value = value_
#define IN_NS .unit = COUNTER_NS
/* For finding a fault: shown on /metrics/debug, not on /metrics. */
#define DEBUG .is_debug = true

/* A metric with the name that Prometheus's conventions give it for every process; not for the
 * log. */
#define PROCESS(family_, type_, help_, ...)                                                        \
	{                                                                                          \
		.family = "process_" family_, .type = type_, .help = help_, __VA_ARGS__            \
	}

#define OF_UNWIND(NAME, value, words)                                                              \
	{ .name = "unwind_" #value,                                                                \
	  .family = "flamelet_stack_stops_total",                                                  \
	  .help = "User stacks, by the reason why unwinding ended.",                               \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("reason", #value),                                                                    \
	  BPF(STAT_UNWIND_FIRST + UNWIND_##NAME) },

#define OF_IDENTITY(NAME, word, help_)                                                             \
	{ .name = "identity_" word,                                                                \
	  .family = "flamelet_identity_samples_total",                                             \
	  .help = "Samples, by where the names of their pod or service come from.",                \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("identity", word),                                                                    \
	  AT(agent.pipeline.identity.nr_samples) + sizeof(uint64_t) * IDENTITY_##NAME },

#define OF_DROP(NAME, word, help_)                                                                 \
	{ .name = "export_samples_dropped_" word,                                                  \
	  .family = "flamelet_export_samples_dropped_total",                                       \
	  .help = "Samples dropped before delivery, by reason, once for each destination.",        \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("reason", word),                                                                      \
	  AT(exporter.nr_samples_dropped) + sizeof(uint64_t) * EXPORT_DROP_##NAME },

const struct counter counter_list[] = {
	/* Samples, from the kernel to the profile. */
	GAUGE("by_perf", "capture_info", "The capture backend in use: bpf or perf.",
	      .unit = COUNTER_BACKEND, BY("backend", ""), AT(agent.capture.backend)),
	COUNTER("sampled", "kernel_samples_total",
		"Runs of the sampling program, by result: sent, or why no sample was taken (idle, "
		"filtered, excluded, undecided).",
		BY("result", "sent"), BPF(STAT_SENT)),
	MORE("idle", "idle", BPF(STAT_IDLE)), MORE("filtered", "filtered", BPF(STAT_FILTERED)),
	MORE("excluded", "excluded", BPF(STAT_EXCLUDED)),
	MORE("undecided", "undecided", BPF(STAT_UNDECIDED)),
	COUNTER("ring_full", "samples_dropped_total",
		"Samples that were lost before they reached a profile, by reason.",
		BY("reason", "ring_full"), BPF(STAT_RING_FULL)),
	MORE("no_scratch", "no_scratch", BPF(STAT_NO_SCRATCH)),
	MORE("bad_records", "bad_record", AT(agent.capture.nr_bad_records)),
	MORE("samples_lost", "window", AT(agent.pipeline.nr_samples_lost)), WAIT_COUNTERS,
	COUNTER("samples", "samples_total",
		"Samples that the agent has read, of CPU time and of threads that wait.",
		AT(agent.pipeline.nr_samples)),
	COUNTER("windows", "windows_total",
		"One-second windows in which samples were taken, those of waits apart.",
		AT(agent.pipeline.nr_windows)),
	COUNTER("windows_finished", "windows_finished_total",
		"One-second windows that are completed: symbolized or dropped.",
		AT(agent.pipeline.nr_windows_finished)),
	COUNTER("throttled", "throttled_total",
		"Times that the kernel throttled a sampling timer (perf only).",
		AT(agent.capture.nr_throttled)),
	GAUGE("ring_bytes", "ring_bytes", "Size of the sample buffer of each CPU (perf only).",
	      DEBUG, AT(agent.capture.ring_bytes)),
	GAUGE("ring_bytes_wanted", "ring_wanted_bytes",
	      "Size that the sample buffer of each CPU would have if enough memory could be locked "
	      "(perf only).",
	      DEBUG, AT(agent.capture.ring_bytes_wanted)),
	GAUGE("tasks", "tasks", "Threads that the agent knows (perf only).", DEBUG,
	      AT(agent.capture.nr_tasks)),
	COUNTER("task_reads", "task_reads_total", "Reads of a thread's files in /proc (perf only).",
		DEBUG, AT(agent.capture.nr_task_reads)),
	COUNTER("tasks_outside", "task_reads_outside_total",
		"Reads of threads whose cgroup is outside the mounted hierarchy (perf only).",
		DEBUG, AT(agent.capture.nr_tasks_outside)),
	COUNTER("targets_refused", "targets_refused_total",
		"Children of the recorded command that are not sampled because there are too many "
		"(perf only).",
		DEBUG, AT(agent.capture.nr_targets_refused)),
	GAUGE("cpus_refused", "cpus_refused", "CPUs that are online and cannot be sampled.",
	      AT(agent.capture.nr_cpus_refused)),
	COUNTER("kernel_stack_failed", "kernel_stacks_missing_total",
		"Samples without a kernel stack, because the kernel could not take it.",
		BPF(STAT_KERNEL_STACK_FAILED)),
	COUNTER("frames_named", "frames_total",
		"Frames that were symbolized, by whether a function name was found.",
		BY("named", "yes"), AT(agent.pipeline.nr_frames_named)),
	MORE("frames_unnamed", "no", AT(agent.pipeline.nr_frames_unnamed)),
	COUNTER("bpf_runs", "bpf_runs_total",
		"Runs of the sampling program; 0 unless kernel.bpf_stats_enabled is set.", DEBUG,
		AT(agent.capture.bpf_run_count)),
	COUNTER("bpf_ns", "bpf_run_seconds_total",
		"Time spent in the sampling program; 0 unless kernel.bpf_stats_enabled is set.",
		IN_NS, AT(agent.capture.bpf_run_ns)),

	/* Processes and their mappings. */
	COUNTER("process_events", "process_events_total",
		"Forks, execs, mappings and exits that the kernel reported.", DEBUG,
		AT(agent.sideband.nr_events)),
	COUNTER("process_events_lost", "process_events_dropped_total",
		"Forks, execs, mappings and exits that were lost, by reason.",
		BY("reason", "ring_full"), AT(agent.sideband.nr_lost)),
	MORE("task_records_lost", "task_ring_full", AT(agent.capture.nr_task_records_lost)),
	MORE("process_events_dropped", "queue_full", AT(agent.sideband.nr_dropped)),
	MORE("process_events_bad", "bad_record", AT(agent.sideband.nr_bad_records)),
	MORE("processes_dropped", "no_memory", AT(agent.pipeline.processes.nr_events_dropped)),
	COUNTER("process_resyncs", "process_resyncs_total",
		"Times that the mappings of all processes were read again because events were "
		"lost.",
		DEBUG, AT(agent.nr_resyncs)),
	GAUGE("processes", "processes", "Processes in the agent's process table.",
	      AT(agent.pipeline.processes.nr_processes)),
	COUNTER("processes_evicted", "processes_evicted_total",
		"Living processes that were dropped from the process table because it was full.",
		DEBUG, AT(agent.pipeline.processes.nr_evicted)),
	COUNTER("maps_reads", "maps_reads_total", "Reads of /proc/PID/maps.", DEBUG,
		AT(agent.pipeline.processes.nr_maps_reads)),
	COUNTER("maps_postponed", "maps_postponed_total",
		"Reads of /proc/PID/maps that were postponed because there were too many in one "
		"second.",
		DEBUG, AT(agent.pipeline.processes.nr_maps_postponed)),
	COUNTER("maps_failures", "maps_failures_total",
		"Reads of /proc/PID/maps that failed or were incomplete.",
		AT(agent.pipeline.processes.nr_maps_failures)),
	COUNTER("maps_bad_lines", "maps_bad_lines_total",
		"Lines of /proc/PID/maps that could not be parsed.", DEBUG,
		AT(agent.pipeline.processes.nr_bad_lines)),
	COUNTER("mappings_dropped", "mappings_dropped_total",
		"Mappings that were dropped because their process has too many or memory ran out.",
		AT(agent.pipeline.processes.nr_mappings_dropped)),

	/* Names: ELF files, their worker processes, debuginfod, JIT compilers. */
	GAUGE("elf_files", "elf_files", "ELF files that the agent knows.", DEBUG,
	      AT(agent.pipeline.elfs.files.nr_files)),
	GAUGE("elf_waiting", "elf_files_waiting",
	      "ELF files that are open until their symbols are read.",
	      AT(agent.pipeline.elfs.files.nr_waiting)),
	GAUGE("elf_tables", "elf_tables", "Symbol tables in memory.", DEBUG,
	      AT(agent.pipeline.elfs.tables.nr_tables)),
	GAUGE("elf_bytes", "elf_table_bytes", "Memory of the symbol tables and line tables.",
	      AT(agent.pipeline.elfs.tables.nr_bytes)),
	COUNTER("elf_evicted", "elf_tables_evicted_total",
		"Symbol tables that were dropped to free memory for new ones.", DEBUG,
		AT(agent.pipeline.elfs.tables.nr_evicted)),
	COUNTER("elf_open_failures", "elf_failures_total",
		"ELF files whose symbols could not be read, by reason.", BY("reason", "open"),
		AT(agent.pipeline.elfs.files.nr_open_failures)),
	MORE("elf_bad_files", "bad_file", AT(agent.pipeline.elfs.files.nr_bad_files)),
	COUNTER("elf_debug_files", "elf_debug_files_total", "Separate debug files that were found.",
		DEBUG, AT(agent.pipeline.elfs.nr_debug_files)),
	COUNTER("elf_resolved", "elf_addresses_resolved_total",
		"Addresses whose source lines the symbol worker looked up.", DEBUG,
		AT(agent.pipeline.elfs.lines.nr_resolved)),
	COUNTER("lines_missed", "elf_addresses_missed_total",
		"Addresses whose source lines could not be looked up, because of a limit or a "
		"failure.",
		AT(agent.pipeline.elfs.lines.nr_missed)),
	COUNTER("line_units", "line_units_total",
		"Compile units whose debug information was read, by result.", DEBUG,
		BY("result", "read"), AT(agent.pipeline.elfs.lines.nr_units)),
	MORE("line_units_left_out", "over_limit", AT(agent.pipeline.elfs.lines.nr_units_left_out)),
	GAUGE("line_tables", "line_tables", "Line tables in memory.", DEBUG,
	      AT(agent.pipeline.elfs.tables.nr_line_tables)),
	GAUGE("line_bytes", "line_table_bytes",
	      "Memory of the line tables, which is part of flamelet_elf_table_bytes.", DEBUG,
	      AT(agent.pipeline.elfs.tables.nr_line_bytes)),
	COUNTER("line_tables_dropped", "line_tables_dropped_total",
		"Line tables that were dropped from memory to make room for others.", DEBUG,
		AT(agent.pipeline.elfs.tables.nr_line_tables_dropped)),
	COUNTER("lines_cache_hits", "lines_cache_reads_total",
		"Lookups in the line table cache on disk, by result.", DEBUG, BY("result", "hit"),
		AT(agent.pipeline.elfs.lines.disk.nr_hits)),
	MORE("lines_cache_misses", "miss", AT(agent.pipeline.elfs.lines.disk.nr_misses)),
	COUNTER("lines_cache_bad_files", "lines_cache_bad_files_total",
		"Damaged files in the line table cache.", DEBUG,
		AT(agent.pipeline.elfs.lines.disk.nr_bad_files)),
	COUNTER("lines_cache_evicted", "lines_cache_evicted_total",
		"Files that were removed from the line table cache to make room for others.", DEBUG,
		AT(agent.pipeline.elfs.lines.disk.nr_evicted)),
	GAUGE("lines_cache_bytes", "lines_cache_bytes", "Size of the line table cache.", DEBUG,
	      AT(agent.pipeline.elfs.lines.disk.nr_bytes)),
	COUNTER("lines_cache_write_failures", "lines_cache_write_failures_total",
		"Files that could not be written to the line table cache.",
		AT(agent.pipeline.elfs.lines.disk.nr_write_failures)),
	COUNTER("names_given_up", "names_not_demangled_total",
		"Function names that were left mangled, by reason.", DEBUG, BY("reason", "time"),
		AT(agent.pipeline.elfs.names.nr_given_up)),
	MORE("names_left", "others_of_file", AT(agent.pipeline.elfs.names.nr_left)),
	COUNTER("symbol_worker_timeouts", "symbol_worker_failures_total",
		"Times that a symbol worker ended while it was serving a request, by reason.",
		BY("reason", "timeout"), AT(agent.pipeline.elfs.worker.nr_timeouts)),
	MORE("symbol_worker_deaths", "death", AT(agent.pipeline.elfs.worker.nr_deaths)),
	COUNTER("debuginfod_asked", "debuginfod_requests_total",
		"Debug files that were requested from debuginfod servers.", DEBUG,
		AT(agent.pipeline.elfs.debuginfod.nr_asked)),
	COUNTER("debuginfod_found", "debuginfod_answers_total",
		"Completed requests to debuginfod servers, by result.", BY("result", "found"),
		AT(agent.pipeline.elfs.debuginfod.nr_found)),
	MORE("debuginfod_missing", "missing", AT(agent.pipeline.elfs.debuginfod.nr_missing)),
	MORE("debuginfod_failures", "failed", AT(agent.pipeline.elfs.debuginfod.nr_failures)),
	COUNTER("debuginfod_refused", "debuginfod_refused_total",
		"Debug files that were not requested because too many requests were waiting.",
		DEBUG, AT(agent.pipeline.elfs.debuginfod.nr_refused)),
	GAUGE("debuginfod_waiting", "debuginfod_waiting",
	      "Debug files that are being downloaded or wait for that.", DEBUG,
	      AT(agent.pipeline.elfs.debuginfod.nr_waiting)),
	COUNTER("debuginfod_worker_timeouts", "debuginfod_worker_failures_total",
		"Times that the debuginfod worker ended while it was serving a request, by reason.",
		BY("reason", "timeout"), AT(agent.pipeline.elfs.debuginfod.nr_killed)),
	MORE("debuginfod_worker_deaths", "death", AT(agent.pipeline.elfs.debuginfod.nr_deaths)),
	GAUGE("jit_processes", "jit_processes", "Processes that write perf maps or jitdumps.",
	      AT(agent.pipeline.jits.nr_processes)),
	GAUGE("jit_functions", "jit_functions", "JIT-compiled functions in memory.", DEBUG,
	      AT(agent.pipeline.jits.nr_functions)),
	GAUGE("jit_bytes", "jit_bytes", "Memory of the JIT-compiled functions.", DEBUG,
	      AT(agent.pipeline.jits.nr_bytes)),
	COUNTER("jit_evicted", "jit_evicted_total",
		"Processes whose JIT-compiled functions were dropped to free memory.", DEBUG,
		AT(agent.pipeline.jits.nr_evicted)),
	COUNTER("jit_bad_lines", "jit_bad_lines_total",
		"Lines of perf maps and records of jitdumps that could not be parsed.", DEBUG,
		AT(agent.pipeline.jits.nr_bad_lines)),
	COUNTER("jit_refused", "jit_files_refused_total",
		"Perf maps and jitdumps that are not read: not regular, not local, of another "
		"user, too large, too many.",
		AT(agent.pipeline.jits.nr_refused)),
	COUNTER("jit_dropped", "jit_lines_dropped_total",
		"Lines of perf maps and records of jitdumps that were dropped because of a limit "
		"or lack of memory.",
		DEBUG, AT(agent.pipeline.jits.nr_dropped)),
	COUNTER("jit_without_place", "jit_samples_without_place_total",
		"Samples without names because there are too many JIT processes.", DEBUG,
		AT(agent.pipeline.jits.nr_without_place)),
	COUNTER("jit_failures", "jit_failures_total",
		"Reads of perf maps and jitdumps that failed; their processes have no JIT names "
		"for a while.",
		AT(agent.pipeline.jits.nr_failures)),
	COUNTER("jit_worker_timeouts", "jit_worker_failures_total",
		"Times that a JIT worker, which reads perf maps and jitdumps, ended while it was "
		"serving a request, by reason.",
		BY("reason", "timeout"), AT(agent.pipeline.jits.worker.nr_timeouts)),
	MORE("jit_worker_deaths", "death", AT(agent.pipeline.jits.worker.nr_deaths)),
	GAUGE("runtimes_processes", "runtime_known_processes",
	      "Processes with a language runtime that the agent knows.", DEBUG,
	      AT(agent.pipeline.runtimes.nr_processes)),
	GAUGE("runtime_bytes", "runtime_bytes",
	      "Memory of the frames of language runtimes and their names.", DEBUG,
	      AT(agent.pipeline.runtimes.nr_bytes)),
	COUNTER("runtime_evicted", "runtime_evicted_total",
		"Processes whose frames' names were dropped to free memory.", DEBUG,
		AT(agent.pipeline.runtimes.nr_evicted)),
	COUNTER("runtime_refused", "runtime_refused_total",
		"Files, processes and frames of language runtimes for which there was no room.",
		DEBUG, AT(agent.pipeline.runtimes.nr_refused)),
	COUNTER("runtime_failures", "runtime_failures_total",
		"Requests about language runtimes that no worker answered; names are missing.",
		AT(agent.pipeline.runtimes.nr_failures)),
	COUNTER("runtime_worker_timeouts", "runtime_worker_failures_total",
		"Times that a runtime worker, which reads language runtimes, ended while it was "
		"serving a request, by reason.",
		BY("reason", "timeout"), AT(agent.pipeline.runtimes.worker.nr_timeouts)),
	MORE("runtime_worker_deaths", "death", AT(agent.pipeline.runtimes.worker.nr_deaths)),
	OF_ALL_RUNTIMES

		/* Tables for unwinding. */
		GAUGE("unwind_slots", "unwind_files", "Files that have a slot for an unwind table.",
		      DEBUG, AT(agent.tables.slots.nr_slots)),
	GAUGE("unwind_waiting", "unwind_files_waiting",
	      "Files whose unwind table is not built yet.", AT(agent.tables.slots.nr_waiting)),
	GAUGE("unwind_tables", "unwind_tables", "Unwind tables in BPF maps.", DEBUG,
	      AT(agent.tables.slots.nr_tables)),
	GAUGE("unwind_table_bytes", "unwind_table_bytes", "Size of the unwind tables.",
	      AT(agent.tables.slots.nr_bytes)),
	GAUGE("unwind_rows", "unwind_rows", "Rows of the unwind tables.", DEBUG,
	      AT(agent.tables.slots.nr_rows)),
	COUNTER("unwind_built", "unwind_tables_built_total", "Unwind tables that were built.",
		DEBUG, AT(agent.tables.slots.nr_built)),
	COUNTER("unwind_shared", "unwind_tables_shared_total",
		"Files that share the unwind table of an identical file.", DEBUG,
		AT(agent.tables.slots.nr_shared)),
	COUNTER("unwind_evicted", "unwind_tables_evicted_total",
		"Unwind tables that were dropped to free memory for new ones.", DEBUG,
		AT(agent.tables.slots.nr_evicted)),
	COUNTER("unwind_without_cfi", "unwind_files_without_cfi_total",
		"Files without call frame information.", DEBUG,
		AT(agent.tables.slots.nr_without_cfi)),
	COUNTER("unwind_bad_files", "unwind_failures_total",
		"Files without an unwind table, by reason.", BY("reason", "bad_file"),
		AT(agent.tables.slots.nr_bad_files)),
	MORE("unwind_over_limit", "over_limit", AT(agent.tables.slots.nr_over_limit)),
	MORE("unwind_no_slot", "no_slot", AT(agent.tables.slots.nr_no_slot)),
	MORE("unwind_refused", "no_room", AT(agent.tables.slots.nr_refused)),
	MORE("unwind_failures", "unreadable", AT(agent.tables.slots.nr_failures)),
	COUNTER("unwind_bad_entries", "unwind_losses_total",
		"Entries of call frame information that could not be converted, by reason.", DEBUG,
		BY("reason", "bad_entry"), AT(agent.tables.slots.nr_bad_entries)),
	MORE("unwind_unsupported_rules", "unsupported_rule",
	     AT(agent.tables.slots.nr_unsupported_rules)),
	COUNTER("unwind_again", "unwind_files_repeated_total",
		"Files that exceeded the limits of the fast lane and were built in the slow lane.",
		DEBUG, AT(agent.tables.slots.nr_again)),
	COUNTER("rows_worker_timeouts", "rows_worker_failures_total",
		"Times that a rows worker, which builds unwind tables, ended while it was serving "
		"a request, by reason.",
		BY("reason", "timeout"), AT(agent.tables.slots.worker.nr_timeouts)),
	MORE("rows_worker_deaths", "death", AT(agent.tables.slots.worker.nr_deaths)),
	GAUGE("unwind_arena_bytes", "unwind_arena_bytes",
	      "Memory of the BPF maps that hold unwind data.",
	      AT(agent.tables.arena.nr_bytes_used)),
	GAUGE("unwind_arena_bytes_freed", "unwind_arena_freed_bytes",
	      "Memory of BPF maps that waits to be reused until running BPF programs have ended.",
	      DEBUG, AT(agent.tables.arena.nr_bytes_freed)),
	GAUGE("unwind_arena_chunks", "unwind_arena_chunks", "BPF maps that hold unwind data.",
	      DEBUG, AT(agent.tables.arena.nr_chunks)),
	COUNTER("unwind_arena_write_failures", "unwind_arena_write_failures_total",
		"Failed writes to the BPF maps that hold unwind data.", DEBUG,
		AT(agent.tables.arena.nr_write_failures)),
	COUNTER("unwind_cache_hits", "unwind_cache_reads_total",
		"Lookups in the unwind table cache on disk, by result.", DEBUG, BY("result", "hit"),
		AT(agent.tables.cache.nr_hits)),
	MORE("unwind_cache_misses", "miss", AT(agent.tables.cache.nr_misses)),
	COUNTER("unwind_cache_bad_files", "unwind_cache_bad_files_total",
		"Damaged files in the unwind table cache.", DEBUG,
		AT(agent.tables.cache.nr_bad_files)),
	COUNTER("unwind_cache_evicted", "unwind_cache_evicted_total",
		"Files that were removed from the unwind table cache to make room for others.",
		DEBUG, AT(agent.tables.cache.nr_evicted)),
	GAUGE("unwind_cache_bytes", "unwind_cache_bytes", "Size of the unwind table cache.", DEBUG,
	      AT(agent.tables.cache.nr_bytes)),
	COUNTER("unwind_cache_write_failures", "unwind_cache_write_failures_total",
		"Files that could not be written to the unwind table cache.",
		AT(agent.tables.cache.nr_write_failures)),
	GAUGE("unwind_keys", "unwind_known_files",
	      "Files that the kernel side can identify in processes whose mappings the agent has "
	      "not read yet.",
	      DEBUG, AT(agent.tables.slots.nr_keys)),
	COUNTER("unwind_no_key", "unwind_unknown_files_total",
		"Files that the kernel side cannot identify in processes with unread mappings, "
		"because its table is full.",
		DEBUG, AT(agent.tables.slots.nr_no_key)),
	GAUGE("kept_files", "kept_files",
	      "Files that no process maps, which the agent keeps for a while.", DEBUG,
	      AT(agent.pipeline.processes.nr_kept_files)),
	COUNTER("unlisted_known", "unlisted_samples_total",
		"Samples of processes whose mappings the agent had not read, by the result of the "
		"kernel side's lookup.",
		DEBUG, BY("result", "known"), BPF(STAT_UNLISTED_KNOWN)),
	MORE("unlisted_file", "unknown_file", BPF(STAT_UNLISTED_FILE)),
	MORE("unlisted_broken", "not_found", BPF(STAT_UNLISTED_BROKEN)),
	GAUGE("mapping_tables", "mapping_tables", "Mapping tables in BPF maps, one per process.",
	      DEBUG, AT(agent.tables.mapping_tables.nr_tables)),
	GAUGE("mapping_table_bytes", "mapping_table_bytes",
	      "Size of the mapping tables in BPF maps.", DEBUG,
	      AT(agent.tables.mapping_tables.nr_bytes)),
	COUNTER("mapping_tables_published", "mapping_tables_published_total",
		"Mapping tables that were written to BPF maps.", DEBUG,
		AT(agent.tables.mapping_tables.nr_published)),
	COUNTER("mapping_table_failures", "mapping_table_failures_total",
		"Mapping tables that could not be written to BPF maps for lack of room or memory.",
		DEBUG, AT(agent.tables.mapping_tables.nr_failures)),

	/* Worker processes. */
	COUNTER("symbol_worker_cpu_ns", "worker_cpu_seconds_total",
		"CPU time of the worker processes, by kind of worker.", IN_NS,
		BY("worker", "symbol"), AT(agent.pipeline.elfs.worker.cpu_ns)),
	MORE_WORKERS("_cpu_ns", cpu_ns, COUNTER_NS),
	MORE("debuginfod_worker_cpu_ns", "debuginfod", IN_NS,
	     AT(agent.pipeline.elfs.debuginfod.cpu_ns)),
	GAUGE("symbol_worker_bytes", "worker_resident_memory_bytes",
	      "Resident memory of the worker processes, by kind of worker.", BY("worker", "symbol"),
	      AT(agent.pipeline.elfs.worker.resident_bytes)),
	MORE_WORKERS("_bytes", resident_bytes, COUNTER_PLAIN),
	MORE("debuginfod_worker_bytes", "debuginfod",
	     AT(agent.pipeline.elfs.debuginfod.resident_bytes)),
	GAUGE("symbol_workers_stuck", "workers_stuck",
	      "Killed worker processes that have not exited because they are blocked in the "
	      "kernel.",
	      BY("worker", "symbol"), AT(agent.pipeline.elfs.worker.nr_stuck)),
	MORE_WORKERS("s_stuck", nr_stuck, COUNTER_PLAIN),
	COUNTER("symbol_worker_requests", "worker_requests_total",
		"Requests to worker processes, by kind of worker.", DEBUG, BY("worker", "symbol"),
		AT(agent.pipeline.elfs.worker.nr_requests)),
	MORE_WORKERS("_requests", nr_requests, COUNTER_PLAIN),
	COUNTER("symbol_worker_started", "worker_starts_total",
		"Starts of worker processes, by kind of worker.", DEBUG, BY("worker", "symbol"),
		AT(agent.pipeline.elfs.worker.nr_started)),
	MORE_WORKERS("_started", nr_started, COUNTER_PLAIN),
	MORE("debuginfod_worker_started", "debuginfod",
	     AT(agent.pipeline.elfs.debuginfod.nr_started)),

	/* Threads. */
	COUNTER("unwind_build_ns", "thread_cpu_seconds_total",
		"CPU time of the agent's threads, by thread, except the thread that reads samples.",
		IN_NS, BY("thread", "unwind"), AT(agent.tables.slots.build_ns)),
	MORE("pods_cpu_ns", "pods", IN_NS, AT(agent.pods.cpu_ns)),
	MORE("export_cpu_ns", "exporter", IN_NS, AT(exporter.cpu_ns)),
	MORE("store_cpu_ns", "store", IN_NS, AT(store.cpu_ns)),
	MORE("vitals_cpu_ns", "vitals", IN_NS, AT(store.vitals.cpu_ns)),

	/* Cgroups and pods. */
	GAUGE("cgroups", "cgroups", "Cgroups that the agent knows.",
	      AT(agent.pipeline.identity.nr_cgroups)),
	COUNTER("cgroups_born", "cgroups_born_total", "Cgroups whose creation the kernel reported.",
		DEBUG, AT(agent.pipeline.identity.nr_births)),
	GAUGE("cgroups_followed", "cgroups_followed",
	      "Whether the kernel reports the creation and removal of cgroups: 1 or 0.", DEBUG,
	      AT(agent.capture.follows_cgroups)),
	COUNTER("cgroup_events", "cgroup_events_total",
		"Creations and removals of cgroups that the agent has read.", DEBUG,
		AT(agent.capture.nr_cgroups)),
	COUNTER("cgroup_events_lost", "cgroup_events_lost_total",
		"Creations and removals of cgroups that were lost.", BPF(STAT_CGROUP_EVENT_LOST)),
	COUNTER("cgroups_late", "cgroups_late_total",
		"Cgroups that were identified at their first sample, because their creation was "
		"missed.",
		DEBUG, AT(agent.pipeline.identity.nr_late)),
	COUNTER("cgroups_missed", "cgroups_missed_total",
		"Cgroups that could not be identified because they had been removed or the table "
		"was full.",
		AT(agent.pipeline.identity.nr_missed)),
	IDENTITY_STATES(OF_IDENTITY) COUNTER("samples_opted_out", "samples_opted_out_total",
					     "Samples that the agent dropped because of the pod's "
					     "annotation flamelet.dev/profile.",
					     AT(agent.pipeline.identity.nr_opted_out)),
	GAUGE("cgroups_wanted", "cgroup_verdicts",
	      "Cgroups, by the decision whether to sample them.", DEBUG, BY("verdict", "wanted"),
	      AT(agent.pipeline.filter.nr_wanted)),
	MORE("cgroups_excluded", "excluded", AT(agent.pipeline.filter.nr_excluded)),
	MORE("cgroups_undecided", "undecided", AT(agent.pipeline.filter.nr_undecided)),
	COUNTER("cgroup_verdicts_refused", "cgroup_verdicts_refused_total",
		"Cgroups whose verdict could not be stored because the BPF map was full.",
		AT(agent.pipeline.filter.nr_refused)),
	GAUGE("pods", "pods", "Pods that the agent knows, including those that ended recently.",
	      DEBUG, AT(agent.index.nr_pods)),
	GAUGE("pods_live", "pods_live", "Pods in the kubelet's last list.",
	      AT(agent.index.nr_live)),
	GAUGE("pod_containers", "pod_containers",
	      "Containers of the known pods, including former ones.", DEBUG,
	      AT(agent.index.nr_containers)),
	GAUGE("pods_bytes", "pods_bytes", "Memory of the pod index.", DEBUG,
	      AT(agent.index.nr_bytes)),
	COUNTER("kubelet_refreshes", "kubelet_refreshes_total",
		"Requests to the kubelet that returned a list of pods.",
		AT(agent.pods.nr_refreshes)),
	COUNTER("kubelet_failures", "kubelet_failures_total",
		"Requests to the kubelet that failed.", AT(agent.pods.nr_failures)),
	COUNTER("kubelet_unauthorized", "kubelet_failures_by_kind_total",
		"Requests to the kubelet that failed for a reason that a change of configuration "
		"can fix, by kind.",
		BY("kind", "unauthorized"), AT(agent.pods.nr_unauthorized)),
	MORE("kubelet_forbidden", "forbidden", AT(agent.pods.nr_forbidden)),
	MORE("kubelet_timeouts", "timeout", AT(agent.pods.nr_timeouts)),
	MORE("kubelet_untrusted", "untrusted", AT(agent.pods.nr_untrusted)),
	COUNTER("kubelet_insecure", "kubelet_insecure_requests_total",
		"Requests to the kubelet that did not verify its certificate.", DEBUG,
		AT(agent.pods.nr_insecure)),
	COUNTER("kubelet_empty", "kubelet_empty_total",
		"Empty pod lists from the kubelet that were ignored because the previous list had "
		"pods.",
		DEBUG, AT(agent.pods.nr_empty)),
	COUNTER("log_reads", "pod_log_reads_total",
		"Scans of the kubelet's log directories for pod names.", DEBUG,
		AT(agent.pods.nr_log_reads)),
	GAUGE("kubelet_body_bytes", "kubelet_body_bytes", "Size of the kubelet's last list.", DEBUG,
	      AT(agent.pods.nr_body_bytes)),
	GAUGE("kubelet_refresh_ns", "kubelet_refresh_seconds",
	      "Duration of the last request to the kubelet.", IN_NS, AT(agent.pods.refresh_ns)),
	COUNTER("kubelet_worker_timeouts", "kubelet_worker_failures_total",
		"Times that the kubelet worker ended while it was serving a request, by reason.",
		BY("reason", "timeout"), AT(agent.pods.worker.nr_timeouts)),
	MORE("kubelet_worker_deaths", "death", AT(agent.pods.worker.nr_deaths)),
	COUNTER("pods_skipped", "kubelet_pods_skipped_total",
		"Items of the kubelet's lists that could not be used.", DEBUG,
		AT(agent.pods.nr_skipped)),
	COUNTER("pods_overflows", "kubelet_overflows_total",
		"Lists from the kubelet with more pods than the index can hold.",
		AT(agent.pods.nr_overflows)),
	GAUGE(NULL, "kubelet_last_success_timestamp_seconds",
	      "Time at which the kubelet last returned a list of pods; 0: never.",
	      .unit = COUNTER_MONO_NS, AT(agent.pods.last_success_ns)),

	COUNTER("reloads", "config_reloads_total", "Reloads of the configuration, by result.",
		BY("result", "valid"), AT(reload.nr_reloads)),
	MORE("reloads_refused", "refused", AT(reload.nr_refused)),

	/* Export. */
	COUNTER("export_samples_pushed", "export_samples_pushed_total",
		"Samples that were handed to the exporter, counted once for each destination.",
		AT(exporter.nr_samples_pushed)),
	COUNTER("export_samples_restored", "export_samples_restored_total",
		"Samples that were found in the delivery queue at the start.",
		AT(exporter.nr_samples_restored)),
	COUNTER("export_samples_sent", "export_samples_sent_total",
		"Samples that were accepted, counted once for each destination.",
		AT(exporter.nr_samples_sent)),
	EXPORT_DROPS(OF_DROP)
		COUNTER("export_samples_collapsed", "export_samples_collapsed_total",
			"Samples whose thread, container or program was replaced by [other] or "
			"omitted, because that attribute had too many values.",
			AT(exporter.nr_samples_collapsed)),
	COUNTER("export_attributes_dropped", "export_attributes_dropped_total",
		"Resource attributes that were dropped because there were too many.",
		AT(exporter.nr_attributes_dropped)),
	GAUGE("export_queue_samples", "export_queue_samples", "Samples in the delivery queue.",
	      AT(exporter.nr_queue_samples)),
	GAUGE("export_queue_requests", "export_queue_requests", "Requests in the delivery queue.",
	      AT(exporter.nr_queue_requests)),
	GAUGE("export_queue_disk_bytes", "export_queue_bytes",
	      "Compressed size of the requests in the delivery queue.", BY("where", "disk"),
	      AT(exporter.nr_queue_disk_bytes)),
	MORE("export_queue_memory_bytes", "memory", AT(exporter.nr_queue_memory_bytes)),
	COUNTER("export_queue_write_failures", "export_queue_write_failures_total",
		"Requests that could not be written to the queue's directory.",
		AT(exporter.nr_queue_write_failures)),
	COUNTER("export_queue_files_damaged", "export_queue_files_damaged_total",
		"Files of the delivery queue that were damaged.", DEBUG,
		AT(exporter.nr_queue_files_damaged)),
	COUNTER("export_requests", "export_requests_total", "Requests to destinations.",
		AT(exporter.nr_requests)),
	COUNTER("export_request_failures", "export_request_failures_total",
		"Requests to destinations that failed or were refused.",
		AT(exporter.nr_request_failures)),
	COUNTER("export_retries", "export_retries_total",
		"Requests to destinations that were sent again after a failure.",
		AT(exporter.nr_retries)),
	COUNTER("export_bytes", "export_bytes_total",
		"Compressed size of the request bodies that destinations have answered.",
		AT(exporter.nr_bytes_sent)),
	COUNTER("export_worker_timeouts", "export_worker_failures_total",
		"Times that a transport worker ended while it was serving a request, by reason.",
		BY("reason", "timeout"), AT(exporter.worker.nr_timeouts)),
	MORE("export_worker_deaths", "death", AT(exporter.worker.nr_deaths)),

	/* The local record. */
	STORE_COUNTERS, GPU_COUNTERS,

	/* The agent itself, without its workers. */
	PROCESS("cpu_seconds_total", METRIC_COUNTER, "CPU time of the agent.", IN_NS,
		AT(self.cpu_ns)),
	PROCESS("resident_memory_bytes", METRIC_GAUGE, "Resident memory of the agent.",
		AT(self.resident_bytes)),
	PROCESS("open_fds", METRIC_GAUGE, "Open file descriptors of the agent.",
		AT(self.nr_open_fds)),
	PROCESS("max_fds", METRIC_GAUGE, "Maximum number of open file descriptors of the agent.",
		AT(self.max_fds)),
	PROCESS("start_time_seconds", METRIC_GAUGE, "Time at which the agent was started.", IN_NS,
		AT(self.start_ns)),
	COUNTER(NULL, "thread_late_total",
		"Times that a thread made progress again after it had exceeded its time limit.",
		AT(self.nr_late_beats)),

	/* Ends of stacks. */
	UNWIND_RESULTS(OF_UNWIND)
};

const size_t counter_list_len = array_len(counter_list);

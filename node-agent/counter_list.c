/* SPDX-License-Identifier: Apache-2.0 */
#include "counter_list.h"

#include "bpf/shared/stats.h"
#include "counters.h"

#define AT(field) .offset = offsetof(struct counters, field)
#define BPF(STAT) AT(agent.capture.bpf) + sizeof(uint64_t) * (STAT)

/* The first row of a family. Behind these may stand where the number is: AT(), BY(), IN_NS. */
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
#define BY(label_, value_) .label = label_, .label_value = value_
#define IN_NS .unit = COUNTER_NS

/* What every process of its kind shows, by names that all of them use; not for the log. */
#define PROCESS(family_, type_, help_, ...)                                                        \
	{                                                                                          \
		.family = "process_" family_, .type = type_, .help = help_, __VA_ARGS__            \
	}

#define OF_UNWIND(NAME, value, words)                                                              \
	{ .name = "unwind_" #value,                                                                \
	  .family = "flamelet_stack_stops_total",                                                  \
	  .help = "User stacks by what ended their unwinding.",                                    \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("reason", #value),                                                                    \
	  BPF(STAT_UNWIND_FIRST + UNWIND_##NAME) },

#define OF_IDENTITY(NAME, word, help_)                                                             \
	{ .name = "identity_" word,                                                                \
	  .family = "flamelet_identity_samples_total",                                             \
	  .help = "Samples by how well it is known whose they are.",                               \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("identity", word),                                                                    \
	  AT(agent.pipeline.identity.nr_samples) + sizeof(uint64_t) * IDENTITY_##NAME },

#define OF_DROP(NAME, word, help_)                                                                 \
	{ .name = "export_samples_dropped_" word,                                                  \
	  .family = "flamelet_export_samples_dropped_total",                                       \
	  .help = "Samples that no receiver will have, by reason.",                                \
	  .type = METRIC_COUNTER,                                                                  \
	  BY("reason", word),                                                                      \
	  AT(exporter.nr_samples_dropped) + sizeof(uint64_t) * EXPORT_DROP_##NAME },

const struct counter counter_list[] = {
	/* Samples, from the kernel to the profile. */
	COUNTER("sampled", "kernel_samples_total",
		"Samples that the kernel took and did not drop, by what became of them.",
		BY("result", "sent"), BPF(STAT_SENT)),
	MORE("idle", "idle", BPF(STAT_IDLE)), MORE("filtered", "filtered", BPF(STAT_FILTERED)),
	MORE("excluded", "excluded", BPF(STAT_EXCLUDED)),
	MORE("undecided", "undecided", BPF(STAT_UNDECIDED)),
	COUNTER("ring_full", "samples_dropped_total",
		"Samples that were lost before they were in a profile, by reason.",
		BY("reason", "ring_full"), BPF(STAT_RING_FULL)),
	MORE("no_scratch", "no_scratch", BPF(STAT_NO_SCRATCH)),
	MORE("bad_records", "bad_record", AT(agent.capture.nr_bad_records)),
	MORE("samples_lost", "window", AT(agent.pipeline.nr_samples_lost)),
	COUNTER("samples", "samples_total", "Samples that the agent has read.",
		AT(agent.pipeline.nr_samples)),
	COUNTER("windows", "windows_total", "Seconds in which samples were taken.",
		AT(agent.pipeline.nr_windows)),
	COUNTER("windows_finished", "windows_finished_total",
		"Of these, the ones that got their names, or were lost at that.",
		AT(agent.pipeline.nr_windows_finished)),
	COUNTER("kernel_stack_failed", "kernel_stacks_missing_total",
		"Samples without the kernel's part of their stack.", BPF(STAT_KERNEL_STACK_FAILED)),
	COUNTER("frames_named", "frames_total",
		"Frames that left with and without the name of a function.", BY("named", "yes"),
		AT(agent.pipeline.nr_frames_named)),
	MORE("frames_unnamed", "no", AT(agent.pipeline.nr_frames_unnamed)),
	COUNTER("bpf_runs", "bpf_runs_total",
		"Runs of the sampling program, while kernel.bpf_stats_enabled is set.",
		AT(agent.capture.bpf_run_count)),
	COUNTER("bpf_ns", "bpf_run_seconds_total",
		"Time in the sampling program, while kernel.bpf_stats_enabled is set.", IN_NS,
		AT(agent.capture.bpf_run_ns)),

	/* Processes and their mappings. */
	COUNTER("process_events", "process_events_total",
		"Forks, execs, mappings and exits that the kernel told of.",
		AT(agent.sideband.nr_events)),
	COUNTER("process_events_lost", "process_events_dropped_total",
		"Forks, execs, mappings and exits that were lost, by reason.",
		BY("reason", "ring_full"), AT(agent.sideband.nr_lost)),
	MORE("process_events_dropped", "queue_full", AT(agent.sideband.nr_dropped)),
	MORE("process_events_bad", "bad_record", AT(agent.sideband.nr_bad_records)),
	MORE("processes_dropped", "no_memory", AT(agent.pipeline.processes.nr_events_dropped)),
	GAUGE("processes", "processes", "Processes that are known.",
	      AT(agent.pipeline.processes.nr_processes)),
	COUNTER("processes_evicted", "processes_evicted_total",
		"Living processes that were forgotten for lack of room.",
		AT(agent.pipeline.processes.nr_evicted)),
	COUNTER("maps_reads", "maps_reads_total", "Lists of mappings that were read from /proc.",
		AT(agent.pipeline.processes.nr_maps_reads)),
	COUNTER("maps_postponed", "maps_postponed_total",
		"Lists of mappings that were not read yet, as others were read in that second.",
		AT(agent.pipeline.processes.nr_maps_postponed)),
	COUNTER("maps_failures", "maps_failures_total",
		"Lists of mappings that could not be read, or in part.",
		AT(agent.pipeline.processes.nr_maps_failures)),
	COUNTER("maps_bad_lines", "maps_bad_lines_total", "Lines of such lists that say nothing.",
		AT(agent.pipeline.processes.nr_bad_lines)),
	COUNTER("mappings_dropped", "mappings_dropped_total",
		"Mappings of processes that have too many, or without memory.",
		AT(agent.pipeline.processes.nr_mappings_dropped)),

	/* Names: ELF files, their worker process, debuginfod, JIT compilers. */
	GAUGE("elf_files", "elf_files", "ELF files that are known.",
	      AT(agent.pipeline.elfs.nr_files)),
	GAUGE("elf_waiting", "elf_files_waiting", "ELF files that are held open to be read.",
	      AT(agent.pipeline.elfs.nr_waiting)),
	GAUGE("elf_tables", "elf_tables", "Tables of names in memory.",
	      AT(agent.pipeline.elfs.nr_tables)),
	GAUGE("elf_bytes", "elf_table_bytes", "Memory of these tables.",
	      AT(agent.pipeline.elfs.nr_bytes)),
	COUNTER("elf_evicted", "elf_tables_evicted_total",
		"Tables of names that were dropped for others.",
		AT(agent.pipeline.elfs.nr_evicted)),
	COUNTER("elf_open_failures", "elf_failures_total", "ELF files without names, by reason.",
		BY("reason", "open"), AT(agent.pipeline.elfs.nr_open_failures)),
	MORE("elf_bad_files", "bad_file", AT(agent.pipeline.elfs.nr_bad_files)),
	COUNTER("elf_debug_files", "elf_debug_files_total", "Separate debug files that were found.",
		AT(agent.pipeline.elfs.nr_debug_files)),
	COUNTER("elf_resolved", "elf_addresses_resolved_total",
		"Addresses whose source lines were asked for.",
		AT(agent.pipeline.elfs.nr_resolved)),
	COUNTER("symbol_worker_requests", "symbol_worker_requests_total",
		"Requests to the worker process that reads ELF files.",
		AT(agent.pipeline.elfs.worker.nr_requests)),
	COUNTER("symbol_worker_started", "symbol_worker_starts_total", "Starts of that worker.",
		AT(agent.pipeline.elfs.worker.nr_started)),
	COUNTER("symbol_worker_timeouts", "symbol_worker_failures_total",
		"Ends of that worker within a request, by reason.", BY("reason", "timeout"),
		AT(agent.pipeline.elfs.worker.nr_timeouts)),
	MORE("symbol_worker_deaths", "death", AT(agent.pipeline.elfs.worker.nr_deaths)),
	COUNTER("symbol_worker_cpu_ns", "symbol_worker_cpu_seconds_total",
		"CPU time of that worker and its predecessors.", IN_NS,
		AT(agent.pipeline.elfs.worker.cpu_ns)),
	GAUGE("symbol_worker_bytes", "symbol_worker_resident_memory_bytes",
	      "Resident memory of that worker.", AT(agent.pipeline.elfs.worker.resident_bytes)),
	COUNTER("debuginfod_asked", "debuginfod_requests_total", "Debug files that were asked for.",
		AT(agent.pipeline.elfs.debuginfod.nr_asked)),
	COUNTER("debuginfod_found", "debuginfod_answers_total", "What came of it.",
		BY("result", "found"), AT(agent.pipeline.elfs.debuginfod.nr_found)),
	MORE("debuginfod_missing", "missing", AT(agent.pipeline.elfs.debuginfod.nr_missing)),
	MORE("debuginfod_failures", "failed", AT(agent.pipeline.elfs.debuginfod.nr_failures)),
	COUNTER("debuginfod_refused", "debuginfod_refused_total",
		"Debug files that were not asked for, as too many were waiting.",
		AT(agent.pipeline.elfs.debuginfod.nr_refused)),
	GAUGE("debuginfod_waiting", "debuginfod_waiting", "Debug files that are being waited for.",
	      AT(agent.pipeline.elfs.debuginfod.nr_waiting)),
	COUNTER("debuginfod_worker_started", "debuginfod_worker_starts_total",
		"Starts of the worker process that downloads.",
		AT(agent.pipeline.elfs.debuginfod.nr_started)),
	COUNTER("debuginfod_worker_timeouts", "debuginfod_worker_failures_total",
		"Ends of that worker within a request, by reason.", BY("reason", "timeout"),
		AT(agent.pipeline.elfs.debuginfod.nr_killed)),
	MORE("debuginfod_worker_deaths", "death", AT(agent.pipeline.elfs.debuginfod.nr_deaths)),
	COUNTER("debuginfod_worker_cpu_ns", "debuginfod_worker_cpu_seconds_total",
		"CPU time of that worker and its predecessors.", IN_NS,
		AT(agent.pipeline.elfs.debuginfod.cpu_ns)),
	GAUGE("debuginfod_worker_bytes", "debuginfod_worker_resident_memory_bytes",
	      "Resident memory of that worker.", AT(agent.pipeline.elfs.debuginfod.resident_bytes)),
	GAUGE("jit_processes", "jit_processes",
	      "Processes that write lists of the functions they compile.",
	      AT(agent.pipeline.jits.nr_processes)),
	GAUGE("jit_functions", "jit_functions", "Functions of such lists in memory.",
	      AT(agent.pipeline.jits.nr_functions)),
	GAUGE("jit_bytes", "jit_bytes", "Memory of these functions.",
	      AT(agent.pipeline.jits.nr_bytes)),
	COUNTER("jit_evicted", "jit_evicted_total",
		"Processes whose functions were dropped for those of others.",
		AT(agent.pipeline.jits.nr_evicted)),
	COUNTER("jit_bad_lines", "jit_bad_lines_total",
		"Lines or records of such lists that say nothing.",
		AT(agent.pipeline.jits.nr_bad_lines)),
	COUNTER("jit_refused", "jit_files_refused_total",
		"Lists that are not read: not regular, not local, of another user, too large, too "
		"many.",
		AT(agent.pipeline.jits.nr_refused)),
	COUNTER("jit_dropped", "jit_lines_dropped_total",
		"Lines of such lists over a limit or without memory.",
		AT(agent.pipeline.jits.nr_dropped)),
	COUNTER("jit_without_place", "jit_samples_without_place_total",
		"Samples of processes beyond the limit of such processes.",
		AT(agent.pipeline.jits.nr_without_place)),

	/* Tables for unwinding. */
	GAUGE("unwind_slots", "unwind_files", "Files that have a place for their unwind table.",
	      AT(agent.unwinder.slots.nr_slots)),
	GAUGE("unwind_waiting", "unwind_files_waiting", "Files whose unwind table is not made yet.",
	      AT(agent.unwinder.slots.nr_waiting)),
	GAUGE("unwind_tables", "unwind_tables", "Unwind tables in BPF maps.",
	      AT(agent.unwinder.slots.nr_tables)),
	GAUGE("unwind_table_bytes", "unwind_table_bytes", "Size of these tables.",
	      AT(agent.unwinder.slots.nr_bytes)),
	GAUGE("unwind_rows", "unwind_rows", "Rows of these tables.",
	      AT(agent.unwinder.slots.nr_rows)),
	COUNTER("unwind_built", "unwind_tables_built_total", "Unwind tables that were made.",
		AT(agent.unwinder.slots.nr_built)),
	COUNTER("unwind_build_ns", "unwind_cpu_seconds_total",
		"CPU time of the thread that makes unwind tables.", IN_NS,
		AT(agent.unwinder.slots.build_ns)),
	COUNTER("unwind_shared", "unwind_tables_shared_total",
		"Files that took the table of an equal one.", AT(agent.unwinder.slots.nr_shared)),
	COUNTER("unwind_evicted", "unwind_tables_evicted_total",
		"Unwind tables that were dropped for others.", AT(agent.unwinder.slots.nr_evicted)),
	COUNTER("unwind_without_cfi", "unwind_files_without_cfi_total",
		"Files without call frame information.", AT(agent.unwinder.slots.nr_without_cfi)),
	COUNTER("unwind_bad_files", "unwind_failures_total",
		"Files without an unwind table, by reason.", BY("reason", "bad_file"),
		AT(agent.unwinder.slots.nr_bad_files)),
	MORE("unwind_over_limit", "over_limit", AT(agent.unwinder.slots.nr_over_limit)),
	MORE("unwind_no_slot", "no_slot", AT(agent.unwinder.slots.nr_no_slot)),
	MORE("unwind_refused", "no_room", AT(agent.unwinder.slots.nr_refused)),
	MORE("unwind_failures", "unreadable", AT(agent.unwinder.slots.nr_failures)),
	COUNTER("unwind_bad_entries", "unwind_losses_total",
		"Parts of unwind tables that are missing, by reason.", BY("reason", "bad_entry"),
		AT(agent.unwinder.slots.nr_bad_entries)),
	MORE("unwind_unsupported_rules", "unsupported_rule",
	     AT(agent.unwinder.slots.nr_unsupported_rules)),
	GAUGE("unwind_arena_bytes", "unwind_arena_bytes",
	      "Memory of BPF maps that unwind data takes.", AT(agent.unwinder.arena.nr_bytes_used)),
	GAUGE("unwind_arena_bytes_freed", "unwind_arena_freed_bytes",
	      "Such memory that waits for programs to end.",
	      AT(agent.unwinder.arena.nr_bytes_freed)),
	GAUGE("unwind_arena_chunks", "unwind_arena_chunks", "BPF maps for unwind data.",
	      AT(agent.unwinder.arena.nr_chunks)),
	COUNTER("unwind_arena_write_failures", "unwind_arena_write_failures_total",
		"Writes to these maps that failed.", AT(agent.unwinder.arena.nr_write_failures)),
	COUNTER("unwind_cache_hits", "unwind_cache_reads_total",
		"Looks into the cache of unwind tables on disk.", BY("result", "hit"),
		AT(agent.unwinder.cache.nr_hits)),
	MORE("unwind_cache_misses", "miss", AT(agent.unwinder.cache.nr_misses)),
	COUNTER("unwind_cache_bad_files", "unwind_cache_bad_files_total",
		"Damaged files in that cache.", AT(agent.unwinder.cache.nr_bad_files)),
	COUNTER("unwind_cache_evicted", "unwind_cache_evicted_total",
		"Files that were removed from that cache for others.",
		AT(agent.unwinder.cache.nr_evicted)),
	GAUGE("unwind_cache_bytes", "unwind_cache_bytes", "Size of that cache.",
	      AT(agent.unwinder.cache.nr_bytes)),
	COUNTER("unwind_cache_write_failures", "unwind_cache_write_failures_total",
		"Files that could not be written to that cache.",
		AT(agent.unwinder.cache.nr_write_failures)),
	GAUGE("code_lists", "code_lists", "Processes whose mappings are in BPF maps.",
	      AT(agent.unwinder.lists.nr_lists)),
	GAUGE("code_list_bytes", "code_list_bytes", "Size of these mappings.",
	      AT(agent.unwinder.lists.nr_bytes)),
	COUNTER("code_lists_published", "code_lists_published_total",
		"Lists of mappings that were written to BPF maps.",
		AT(agent.unwinder.lists.nr_published)),
	COUNTER("code_list_failures", "code_list_failures_total",
		"Lists of mappings for which there was no room or no memory.",
		AT(agent.unwinder.lists.nr_failures)),

	/* Whose CPU time it is. */
	GAUGE("cgroups", "cgroups", "Control groups that are known.",
	      AT(agent.pipeline.identity.nr_cgroups)),
	COUNTER("cgroups_born", "cgroups_born_total", "Control groups whose birth the kernel told.",
		AT(agent.pipeline.identity.nr_births)),
	GAUGE("cgroups_followed", "cgroups_followed",
	      "Whether the kernel tells of births and deaths: 1 or 0.",
	      AT(agent.capture.follows_cgroups)),
	COUNTER("cgroup_events", "cgroup_events_total",
		"Births and deaths of control groups that the agent has read.",
		AT(agent.capture.nr_cgroups)),
	COUNTER("cgroup_events_lost", "cgroup_events_lost_total",
		"Births and deaths of control groups that were lost.", BPF(STAT_CGROUP_EVENT_LOST)),
	COUNTER("cgroups_late", "cgroups_late_total",
		"Control groups that were looked up at their first sample.",
		AT(agent.pipeline.identity.nr_late)),
	COUNTER("cgroups_missed", "cgroups_missed_total",
		"Control groups that were gone when they were looked up, or for which there was no "
		"room.",
		AT(agent.pipeline.identity.nr_missed)),
	IDENTITY_STATES(OF_IDENTITY)
		COUNTER("samples_opted_out", "samples_opted_out_total",
			"Samples dropped by the agent, as their pod's annotation asks.",
			AT(agent.pipeline.identity.nr_opted_out)),
	GAUGE("cgroups_wanted", "cgroup_verdicts", "Control groups by whether they are sampled.",
	      BY("verdict", "wanted"), AT(agent.pipeline.filter.nr_wanted)),
	MORE("cgroups_excluded", "excluded", AT(agent.pipeline.filter.nr_excluded)),
	MORE("cgroups_undecided", "undecided", AT(agent.pipeline.filter.nr_undecided)),
	COUNTER("cgroup_verdicts_refused", "cgroup_verdicts_refused_total",
		"Verdicts that the kernel had no room for.", AT(agent.pipeline.filter.nr_refused)),
	GAUGE("pods", "pods", "Pods that are known, those that ended lately included.",
	      AT(agent.index.nr_pods)),
	GAUGE("pods_live", "pods_live", "Pods in the last list.", AT(agent.index.nr_live)),
	GAUGE("pod_containers", "pod_containers", "Containers of these, former ones included.",
	      AT(agent.index.nr_containers)),
	GAUGE("pods_bytes", "pods_bytes", "Memory for what is known of pods.",
	      AT(agent.index.nr_bytes)),
	COUNTER("kubelet_refreshes", "kubelet_refreshes_total",
		"Lists of pods that the kubelet gave.", AT(agent.pods.nr_refreshes)),
	COUNTER("kubelet_failures", "kubelet_failures_total",
		"Requests to the kubelet that brought no list.", AT(agent.pods.nr_failures)),
	COUNTER("kubelet_unauthorized", "kubelet_failures_by_kind_total", "Some of these, by kind.",
		BY("kind", "unauthorized"), AT(agent.pods.nr_unauthorized)),
	MORE("kubelet_forbidden", "forbidden", AT(agent.pods.nr_forbidden)),
	MORE("kubelet_timeouts", "timeout", AT(agent.pods.nr_timeouts)),
	MORE("kubelet_untrusted", "untrusted", AT(agent.pods.nr_untrusted)),
	COUNTER("kubelet_insecure", "kubelet_insecure_requests_total",
		"Requests to the kubelet whose certificate is not verified.",
		AT(agent.pods.nr_insecure)),
	COUNTER("kubelet_empty", "kubelet_empty_total",
		"Empty lists right after others, which were not believed.",
		AT(agent.pods.nr_empty)),
	COUNTER("log_reads", "pod_log_reads_total",
		"Looks at the kubelet's log directories for names.", AT(agent.pods.nr_log_reads)),
	GAUGE("kubelet_body_bytes", "kubelet_body_bytes", "Size of the last list.",
	      AT(agent.pods.nr_body_bytes)),
	GAUGE("kubelet_refresh_ns", "kubelet_refresh_seconds", "Time that it took.", IN_NS,
	      AT(agent.pods.refresh_ns)),
	COUNTER("pods_cpu_ns", "pods_cpu_seconds_total",
		"CPU time of the thread that asks the kubelet.", IN_NS, AT(agent.pods.cpu_ns)),
	COUNTER("pods_skipped", "kubelet_pods_skipped_total",
		"Items of such lists that say nothing.", AT(agent.pods.nr_skipped)),
	COUNTER("pods_overflows", "kubelet_overflows_total",
		"Lists with more pods than there is room for.", AT(agent.pods.nr_overflows)),
	GAUGE(NULL, "kubelet_last_success_timestamp_seconds",
	      "When the kubelet last gave a list; 0: never.", .unit = COUNTER_MONO_NS,
	      AT(agent.pods.last_success_ns)),

	COUNTER("reloads", "config_reloads_total", "Times that the configuration was read again.",
		BY("result", "valid"), AT(reload.nr_reloads)),
	MORE("reloads_refused", "refused", AT(reload.nr_refused)),

	/* What leaves the node. */
	COUNTER("export_samples_pushed", "export_samples_pushed_total",
		"Samples that were handed to the exporter, once for each receiver.",
		AT(exporter.nr_samples_pushed)),
	COUNTER("export_samples_restored", "export_samples_restored_total",
		"Samples that were found in the queue at the start.",
		AT(exporter.nr_samples_restored)),
	COUNTER("export_samples_sent", "export_samples_sent_total",
		"Samples that a receiver has taken.", AT(exporter.nr_samples_sent)),
	EXPORT_DROPS(OF_DROP) COUNTER("export_samples_collapsed", "export_samples_collapsed_total",
				      "Samples with an attribute that had too many values.",
				      AT(exporter.nr_samples_collapsed)),
	COUNTER("export_attributes_dropped", "export_attributes_dropped_total",
		"Attributes of resources that were too many.", AT(exporter.nr_attributes_dropped)),
	GAUGE("export_queue_samples", "export_queue_samples", "Samples that wait for a receiver.",
	      AT(exporter.nr_queue_samples)),
	GAUGE("export_queue_requests", "export_queue_requests",
	      "Requests that wait for a receiver.", AT(exporter.nr_queue_requests)),
	GAUGE("export_queue_disk_bytes", "export_queue_bytes",
	      "Size of these requests, compressed.", BY("where", "disk"),
	      AT(exporter.nr_queue_disk_bytes)),
	MORE("export_queue_memory_bytes", "memory", AT(exporter.nr_queue_memory_bytes)),
	COUNTER("export_queue_write_failures", "export_queue_write_failures_total",
		"Requests that could not be written to the queue's directory.",
		AT(exporter.nr_queue_write_failures)),
	COUNTER("export_queue_files_damaged", "export_queue_files_damaged_total",
		"Files of the queue that were not whole.", AT(exporter.nr_queue_files_damaged)),
	COUNTER("export_requests", "export_requests_total", "Requests to receivers.",
		AT(exporter.nr_requests)),
	COUNTER("export_request_failures", "export_request_failures_total",
		"Requests that failed or were refused.", AT(exporter.nr_request_failures)),
	COUNTER("export_retries", "export_retries_total",
		"Requests that were made again, as they had failed before.",
		AT(exporter.nr_retries)),
	COUNTER("export_bytes", "export_bytes_total", "Compressed bodies that were answered.",
		AT(exporter.nr_bytes_sent)),
	COUNTER("export_cpu_ns", "export_cpu_seconds_total", "CPU time of the exporter threads.",
		IN_NS, AT(exporter.cpu_ns)),

	/* The agent itself, without its workers. */
	PROCESS("cpu_seconds_total", METRIC_COUNTER, "CPU time of the agent.", IN_NS,
		AT(self.cpu_ns)),
	PROCESS("resident_memory_bytes", METRIC_GAUGE, "Resident memory of the agent.",
		AT(self.resident_bytes)),
	PROCESS("open_fds", METRIC_GAUGE, "Open file descriptors of the agent.",
		AT(self.nr_open_fds)),
	PROCESS("max_fds", METRIC_GAUGE, "File descriptors that it may have open.",
		AT(self.max_fds)),
	PROCESS("start_time_seconds", METRIC_GAUGE, "When the agent was started.", IN_NS,
		AT(self.start_ns)),

	/* Why stacks end. */
	UNWIND_RESULTS(OF_UNWIND)
};

const size_t counter_list_len = array_len(counter_list);

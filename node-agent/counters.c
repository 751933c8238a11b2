/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include "bpf/shared/stats.h"

#include <inttypes.h>

struct counter {
	const char *name;
	size_t offset; /* of a uint64_t in struct counters */
};

#define AT(field) offsetof(struct counters, field)

#define OF_BPF(NAME, name, help) { #name, AT(agent.capture.bpf) + sizeof(uint64_t) * STAT_##NAME },
#define OF_UNWIND(NAME, name, words)                                                               \
	{ "unwind_" #name,                                                                         \
	  AT(agent.capture.bpf) + sizeof(uint64_t) * (STAT_UNWIND_FIRST + UNWIND_##NAME) },

/* All but times of the clock. */
static const struct counter list[] = {
	{ "bad_records", AT(agent.capture.nr_bad_records) },
	{ "bpf_runs", AT(agent.capture.bpf_run_count) },
	{ "bpf_ns", AT(agent.capture.bpf_run_ns) },
	{ "process_events", AT(agent.sideband.nr_events) },
	{ "process_events_lost", AT(agent.sideband.nr_lost) },
	{ "process_events_dropped", AT(agent.sideband.nr_dropped) },
	{ "process_events_bad", AT(agent.sideband.nr_bad_records) },
	{ "samples", AT(agent.pipeline.nr_samples) },
	{ "samples_lost", AT(agent.pipeline.nr_samples_lost) },
	{ "windows", AT(agent.pipeline.nr_windows) },
	{ "frames_named", AT(agent.pipeline.nr_frames_named) },
	{ "frames_unnamed", AT(agent.pipeline.nr_frames_unnamed) },
	{ "processes", AT(agent.pipeline.processes.nr_processes) },
	{ "processes_evicted", AT(agent.pipeline.processes.nr_evicted) },
	{ "processes_dropped", AT(agent.pipeline.processes.nr_events_dropped) },
	{ "maps_reads", AT(agent.pipeline.processes.nr_maps_reads) },
	{ "maps_postponed", AT(agent.pipeline.processes.nr_maps_postponed) },
	{ "maps_failures", AT(agent.pipeline.processes.nr_maps_failures) },
	{ "maps_bad_lines", AT(agent.pipeline.processes.nr_bad_lines) },
	{ "mappings_dropped", AT(agent.pipeline.processes.nr_mappings_dropped) },
	{ "elf_files", AT(agent.pipeline.elfs.nr_files) },
	{ "elf_waiting", AT(agent.pipeline.elfs.nr_waiting) },
	{ "elf_tables", AT(agent.pipeline.elfs.nr_tables) },
	{ "elf_bytes", AT(agent.pipeline.elfs.nr_bytes) },
	{ "elf_evicted", AT(agent.pipeline.elfs.nr_evicted) },
	{ "elf_open_failures", AT(agent.pipeline.elfs.nr_open_failures) },
	{ "elf_bad_files", AT(agent.pipeline.elfs.nr_bad_files) },
	{ "elf_debug_files", AT(agent.pipeline.elfs.nr_debug_files) },
	{ "elf_resolved", AT(agent.pipeline.elfs.nr_resolved) },
	{ "symbol_worker_requests", AT(agent.pipeline.elfs.worker.nr_requests) },
	{ "symbol_worker_started", AT(agent.pipeline.elfs.worker.nr_started) },
	{ "symbol_worker_timeouts", AT(agent.pipeline.elfs.worker.nr_timeouts) },
	{ "symbol_worker_deaths", AT(agent.pipeline.elfs.worker.nr_deaths) },
	{ "symbol_worker_cpu_ns", AT(agent.pipeline.elfs.worker.cpu_ns) },
	{ "symbol_worker_bytes", AT(agent.pipeline.elfs.worker.resident_bytes) },
	{ "debuginfod_asked", AT(agent.pipeline.elfs.debuginfod.nr_asked) },
	{ "debuginfod_found", AT(agent.pipeline.elfs.debuginfod.nr_found) },
	{ "debuginfod_missing", AT(agent.pipeline.elfs.debuginfod.nr_missing) },
	{ "debuginfod_failures", AT(agent.pipeline.elfs.debuginfod.nr_failures) },
	{ "debuginfod_refused", AT(agent.pipeline.elfs.debuginfod.nr_refused) },
	{ "debuginfod_waiting", AT(agent.pipeline.elfs.debuginfod.nr_waiting) },
	{ "debuginfod_worker_started", AT(agent.pipeline.elfs.debuginfod.nr_started) },
	{ "debuginfod_worker_timeouts", AT(agent.pipeline.elfs.debuginfod.nr_killed) },
	{ "debuginfod_worker_deaths", AT(agent.pipeline.elfs.debuginfod.nr_deaths) },
	{ "debuginfod_worker_cpu_ns", AT(agent.pipeline.elfs.debuginfod.cpu_ns) },
	{ "debuginfod_worker_bytes", AT(agent.pipeline.elfs.debuginfod.resident_bytes) },
	{ "jit_processes", AT(agent.pipeline.jits.nr_processes) },
	{ "jit_functions", AT(agent.pipeline.jits.nr_functions) },
	{ "jit_bytes", AT(agent.pipeline.jits.nr_bytes) },
	{ "jit_evicted", AT(agent.pipeline.jits.nr_evicted) },
	{ "jit_bad_lines", AT(agent.pipeline.jits.nr_bad_lines) },
	{ "jit_refused", AT(agent.pipeline.jits.nr_refused) },
	{ "jit_dropped", AT(agent.pipeline.jits.nr_dropped) },
	{ "jit_without_place", AT(agent.pipeline.jits.nr_without_place) },
	{ "unwind_slots", AT(agent.unwinder.slots.nr_slots) },
	{ "unwind_waiting", AT(agent.unwinder.slots.nr_waiting) },
	{ "unwind_tables", AT(agent.unwinder.slots.nr_tables) },
	{ "unwind_table_bytes", AT(agent.unwinder.slots.nr_bytes) },
	{ "unwind_rows", AT(agent.unwinder.slots.nr_rows) },
	{ "unwind_built", AT(agent.unwinder.slots.nr_built) },
	{ "unwind_build_ns", AT(agent.unwinder.slots.build_ns) },
	{ "unwind_shared", AT(agent.unwinder.slots.nr_shared) },
	{ "unwind_evicted", AT(agent.unwinder.slots.nr_evicted) },
	{ "unwind_without_cfi", AT(agent.unwinder.slots.nr_without_cfi) },
	{ "unwind_bad_files", AT(agent.unwinder.slots.nr_bad_files) },
	{ "unwind_over_limit", AT(agent.unwinder.slots.nr_over_limit) },
	{ "unwind_no_slot", AT(agent.unwinder.slots.nr_no_slot) },
	{ "unwind_refused", AT(agent.unwinder.slots.nr_refused) },
	{ "unwind_failures", AT(agent.unwinder.slots.nr_failures) },
	{ "unwind_bad_entries", AT(agent.unwinder.slots.nr_bad_entries) },
	{ "unwind_unsupported_rules", AT(agent.unwinder.slots.nr_unsupported_rules) },
	{ "unwind_arena_bytes", AT(agent.unwinder.arena.nr_bytes_used) },
	{ "unwind_arena_bytes_freed", AT(agent.unwinder.arena.nr_bytes_freed) },
	{ "unwind_arena_write_failures", AT(agent.unwinder.arena.nr_write_failures) },
	{ "unwind_arena_chunks", AT(agent.unwinder.arena.nr_chunks) },
	{ "unwind_cache_hits", AT(agent.unwinder.cache.nr_hits) },
	{ "unwind_cache_misses", AT(agent.unwinder.cache.nr_misses) },
	{ "unwind_cache_bad_files", AT(agent.unwinder.cache.nr_bad_files) },
	{ "unwind_cache_evicted", AT(agent.unwinder.cache.nr_evicted) },
	{ "unwind_cache_bytes", AT(agent.unwinder.cache.nr_bytes) },
	{ "unwind_cache_write_failures", AT(agent.unwinder.cache.nr_write_failures) },
	{ "code_lists", AT(agent.unwinder.lists.nr_lists) },
	{ "code_list_bytes", AT(agent.unwinder.lists.nr_bytes) },
	{ "code_lists_published", AT(agent.unwinder.lists.nr_published) },
	{ "code_list_failures", AT(agent.unwinder.lists.nr_failures) },
	{ "cgroups", AT(agent.pipeline.identity.nr_cgroups) },
	{ "cgroups_unknown", AT(agent.pipeline.identity.nr_unknown) },
	{ "pods_unnamed", AT(agent.pipeline.identity.nr_unnamed) },
	{ "kubelet_refreshes", AT(agent.pods.nr_refreshes) },
	{ "kubelet_failures", AT(agent.pods.nr_failures) },
	{ "pods_skipped", AT(agent.pods.nr_skipped) },
	{ "pods_overflows", AT(agent.pods.nr_overflows) },
	{ "export_samples_pushed", AT(exporter.nr_samples_pushed) },
	{ "export_samples_sent", AT(exporter.nr_samples_sent) },
	{ "export_samples_failed", AT(exporter.nr_samples_failed) },
	{ "export_samples_dropped", AT(exporter.nr_samples_dropped) },
	{ "export_requests", AT(exporter.nr_requests) },
	{ "export_request_failures", AT(exporter.nr_request_failures) },
	{ "export_bytes", AT(exporter.nr_bytes_sent) },
	{ "export_cpu_ns", AT(exporter.cpu_ns) },
	BPF_STATS(OF_BPF) UNWIND_RESULTS(OF_UNWIND)
};

void counters_format(const struct counters *counters, struct strbuf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < array_len(list); i++) {
		const uint64_t *value = (const void *)((const char *)counters + list[i].offset);

		if (*value == 0)
			continue;
		strbuf_appendf(out, "%s%s=%" PRIu64, separator, list[i].name, *value);
		separator = " ";
	}
}

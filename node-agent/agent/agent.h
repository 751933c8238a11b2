/* SPDX-License-Identifier: Apache-2.0 */
/* Wires all modules together, for both `record` and `agent`. The caller's thread is the reader:
 *
 *	agent_new() ─▶ agent_start() ─▶ agent_poll() repeatedly ─▶ agent_stop() ─▶ agent_free()
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/allocation_probes.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_stats.h"
#include "capture/sample_source.h"
#include "capture/sideband/sideband.h"
#include "config/options.h"
#include "k8s/pod_watch.h"
#include "pipeline/pipeline.h"

#include <stdint.h>

#define AGENT_POLL_NS (UINT64_C(100) * 1000000)

struct agent;

struct agent_stats {
	struct capture_stats capture;
	struct sideband_stats sideband;
	uint64_t nr_resyncs; /* times that all processes were resynced because events were lost */
	struct unwind_tables_stats tables;
	struct pipeline_stats pipeline;
	struct pod_watch_stats pods;
	struct pod_index_stats index;
	struct allocation_probes_stats probes;
};

/* Takes each finished profile, on the symbolizer thread. The reference stays the agent's. */
typedef void (*agent_sink)(struct profile *profile, void *data);

/* Brings up everything but the timers. `options` is borrowed and outlives the agent. On failure
 * `reterr_msg` says what failed and what to do. Errors: those of the stages. */
int agent_new(const struct options *options, agent_sink sink, void *sink_data,
	      struct strbuf *reterr_msg, struct agent **ret_agent) must_check;
void agent_free(struct agent *agent);
DEFINE_FREEP(struct agent, agent_free)

/* Has CPU time sampled with another period from now on, or from agent_start() on. All CPUs have
 * changed before one of them takes the first sample of the new period. Errors: those of
 * sample_source_set_period(); the samples count as if all CPUs had changed. */
int agent_set_period(struct agent *agent, uint64_t period_ns) must_check;

/* Starts sampling. Errors: those of sample_source_follow_cpus(). */
int agent_start(struct agent *agent, struct strbuf *reterr_msg) must_check;

/* If the options select pods or cgroups, checks that this node has one of them. Errors:
 * -ENOENT, with `reterr_msg`. */
int agent_require_target(struct agent *agent, struct strbuf *reterr_msg) must_check;

/* Replaces the selection and the keys of labels by those of `options`; its other fields are
 * ignored. On failure nothing changes. Errors: those of target_select(), -ENOMEM. */
int agent_select(struct agent *agent, const struct options *options, struct strbuf *reterr_msg)
	must_check;

/* Samples without recording until busy processes can be unwound; otherwise the first samples of a
 * short recording would have no stacks. Takes at most half a second. */
void agent_warm_up(struct agent *agent);

/* Returns whether it is recorded where threads wait. It is not if only samples could be had. */
bool agent_has_off_cpu(const struct agent *agent);

/* Returns whether waits for locks, growth of memory or time in interrupts are recorded. They are
 * not if the kernel does not tell, or if only samples could be had. */
bool agent_sends(const struct agent *agent, enum option_kind kind);

/* Returns whether allocations of programs are recorded. */
bool agent_has_allocations(const struct agent *agent);

/* Returns why perf takes the samples and not BPF, for people to read; NULL if BPF does.
 * Borrowed. */
const char *agent_perf_reason(const struct agent *agent);

/* Number of CPUs that are sampled now. */
uint32_t agent_nr_cpus(const struct agent *agent);

/* Adds a process to the target (and, with options->command, all its children). */
int agent_add_pid(struct agent *agent, uint32_t pid) must_check;

/* For commands that choose among samples. The source, borrowed; agent_start() is not called.
 *
 * agent_poll_samples() hands all waiting samples to `handle`, which may pass them on:
 * agent_learn_sample() has what their stacks need for unwinding and naming read,
 * agent_add_sample() puts them into a profile. agent_wait_learned() waits until all of that is
 * read, at most until `deadline_ns` (CLOCK_MONOTONIC). */
struct sample_source *agent_source(struct agent *agent);
void agent_poll_samples(struct agent *agent,
			void (*handle)(const struct sample_event *sample, void *data), void *data);
void agent_learn_sample(struct agent *agent, const struct sample_event *sample);
void agent_add_sample(struct agent *agent, const struct sample_event *sample);
void agent_wait_learned(struct agent *agent, uint64_t deadline_ns);

/* Sleeps for AGENT_POLL_NS, but not past `deadline_ns`, and less when a signal arrives or a
 * process is sampled that must be bound now. Then handles all samples. */
void agent_poll(struct agent *agent, uint64_t deadline_ns);

/* Stops sampling and hands all samples to the sink, however long that takes. But once the end was
 * asked for (signals.h), it waits only briefly for symbols, and for the symbolizer until `max_ns`
 * later. Errors: -ETIMEDOUT if the symbolizer has not finished by then. Its samples are lost and
 * counted, the sink is not called any more, and agent_free() may wait for ever. */
int agent_stop(struct agent *agent, uint64_t max_ns) must_check;

/* Returns the number of samples that were taken but are in no profile, for any reason. */
uint64_t agent_stats_lost(const struct agent_stats *stats);

void agent_get_stats(struct agent *agent, struct agent_stats *ret_stats);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

#include "agent/allocation_probes.h"
#include "agent/capture_choice.h"
#include "agent/cpu_follower.h"
#include "agent/host_name.h"
#include "agent/pipeline_choice.h"
#include "agent/pods.h"
#include "agent/signals.h"
#include "agent/target.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/rlimit.h"
#include "capture/perf_events/ring_room.h"
#include "capture/sample_source.h"
#include "cgroup/cgroup_fs.h"
#include "privilege/privileges.h"
#include "privilege/refusal.h"
#include "process/host_pids.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROCESSES 32768
#define REASON_MAX_BYTES 4096

#define FOLLOW_CPUS_NS NSEC_PER_SEC
#define URGENT_DELAY_NS (200 * NSEC_PER_USEC) /* new processes come in bursts, and exit soon */
#define WARM_UP_MIN_NS (200 * NSEC_PER_MSEC)
#define WARM_UP_MAX_NS (500 * NSEC_PER_MSEC)

/* Rate-limits resyncs: a flood of events cannot force a full scan of /proc on every poll. */
#define RESYNC_INTERVAL_NS NSEC_PER_SEC

#define LAST_NAMES_NS (2500 * NSEC_PER_MSEC) /* for symbols, once the end is asked for */

/* One member for each module, in the order in which data flows and stages start. */
struct agent {
	const struct options *options; /* borrowed */
	agent_sink sink;
	void *sink_data;

	struct memory_pool pool; /* of unwind tables, symbols, and workers that read large files */
	int proc_fd;
	struct cgroup_fs *cgroup_fs;
	struct pod_index *pods;
	struct pod_watch *watch;
	struct target target;
	struct selection *selection;
	struct sideband *sideband;
	struct sample_source *source;
	struct strbuf perf_reason; /* why BPF takes no samples; empty: it does */
	bool has_off_cpu; /* the source sends blocks, maybe only those for locks */
	/* 1 << enum option_kind: what the source sends beside samples, blocks and allocations */
	unsigned int sent_kinds;
	struct unwind_tables *tables;
	struct pipeline *pipeline;
	struct cpu_follower cpus;
	struct allocation_probes allocations;
	uint64_t nr_events_lost; /* up to the last collection */
	bool has_lost_events; /* and processes were not resynced since */
	uint64_t next_resync_ns;
	uint64_t nr_resyncs;
	uint64_t next_follow_ns;
	uint64_t next_poll_ns;
	bool is_warming_up;
};

static int start_proc(struct agent *agent, struct strbuf *reterr_msg)
{
	rlimit_raise(RLIMIT_NOFILE);
	rlimit_raise(RLIMIT_MEMLOCK);
	agent->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (agent->proc_fd < 0) {
		strbuf_append_str(reterr_msg, "cannot open /proc");
		return -errno;
	}
	/* Samples carry the host's process ids; in another namespace these belong to other
	 * processes. */
	if (!host_pids_are_ours(agent->proc_fd))
		log_warn("this is not the host's PID namespace, so functions of user code have no "
			 "names; in a pod, set hostPID: true; with docker run, --pid=host");
	return 0;
}

static int start_cgroups(struct agent *agent, struct strbuf *reterr_msg)
{
	int r = cgroup_fs_open(agent->options->cgroup_root, &agent->cgroup_fs);

	if (r < 0)
		strbuf_append_str(reterr_msg, "no cgroup file system is mounted: mount it at "
					      "/sys/fs/cgroup, or set --cgroup-root");
	return r;
}

static int start_pods(struct agent *agent, struct strbuf *reterr_msg)
{
	return pods_start(agent->options, &agent->pods, &agent->watch, reterr_msg);
}

static int start_target(struct agent *agent, struct strbuf *reterr_msg)
{
	int r = target_resolve(agent->options, &agent->target, reterr_msg);

	if (r == 0)
		r = target_select(agent->options, agent->cgroup_fs, reterr_msg, &agent->selection);
	if (r == 0 && selection_has_inclusions(agent->selection))
		pods_wait_first(agent->options, agent->watch);
	return r;
}

static int start_sideband(struct agent *agent, struct strbuf *reterr_msg)
{
	size_t bytes = ring_room_sideband_bytes(agent->proc_fd, SIDEBAND_RING_BYTES);
	int r = sideband_open(bytes, &agent->sideband);

	if (r < 0) {
		strbuf_append_str(reterr_msg, "cannot follow processes: ");
		refusal_append_perf(r, reterr_msg);
	}
	return r;
}

/* The mappings known of processes may be wrong: they are read again when a process is sampled. */
static void resync_processes(struct agent *agent, uint64_t now_ns)
{
	pipeline_lose_events(agent->pipeline, now_ns);
	sample_source_lose_events(agent->source);
	agent->has_lost_events = false;
	agent->next_resync_ns = now_ns + RESYNC_INTERVAL_NS;
	agent->nr_resyncs++;
}

static void collect_events(struct agent *agent)
{
	sideband_collect(agent->sideband);

	uint64_t now_ns = sideband_collected_until_ns(agent->sideband);
	struct sideband_stats stats = sideband_get_stats(agent->sideband);
	uint64_t nr_lost = stats.nr_lost + stats.nr_dropped + stats.nr_bad_records;
	if (nr_lost > agent->nr_events_lost)
		agent->has_lost_events = true;
	agent->nr_events_lost = nr_lost;
	if (agent->has_lost_events && now_ns >= agent->next_resync_ns)
		resync_processes(agent, now_ns);
}

/* Applies events up to a time, so that a sample finds its process as it was when it was taken. */
static void apply_events(struct agent *agent, uint64_t until_ns)
{
	const struct proc_event *event;

	if (sideband_collected_until_ns(agent->sideband) < until_ns)
		collect_events(agent);
	while ((event = sideband_peek(agent->sideband)) && event->time_ns <= until_ns) {
		pipeline_add_event(agent->pipeline, event);
		sample_source_follow_process(agent->source, event);
		allocation_probes_follow(&agent->allocations, event);
		sideband_pop(agent->sideband);
	}
}

static int start_capture(struct agent *agent, struct strbuf *reterr_msg)
{
	struct capture_opts opts = {
		.frequency_hz = agent->options->frequency_hz,
		.max_frequency_hz = agent->options->trigger_boost_hz,
		.poll_interval_ns = AGENT_POLL_NS,
		.cgroup_is_v1 = cgroup_fs_mode(agent->cgroup_fs) == CGROUP_MODE_LEGACY,
		.cgroup_is_cpu = strcmp(cgroup_fs_controller(agent->cgroup_fs), "cpu") == 0,
		.cgroup_hierarchy = cgroup_fs_hierarchy(agent->cgroup_fs),
		.stack_copy_bytes = agent->options->stack_copy_bytes,
		.proc_fd = agent->proc_fd,
		.sideband_bytes = sideband_ring_bytes(agent->sideband),
		.cgroup_fs = agent->cgroup_fs,
		.unwind_memory_max = agent->options->unwind_memory_max,
		.pool = &agent->pool,
	};

	capture_choice_apply(agent->options, &opts);
	target_apply(&agent->target, agent->options, &opts);
	opts.selects_cgroups = !selection_is_empty(agent->selection);
	int r = capture_choice_open(agent->options->capture, &opts, &agent->perf_reason, reterr_msg,
				    &agent->source);
	agent->has_off_cpu = opts.off_cpu;
	agent->sent_kinds = (unsigned int)opts.locks << OPTION_KIND_LOCK |
			    (unsigned int)opts.growth << OPTION_KIND_GROWTH |
			    (unsigned int)opts.irq << OPTION_KIND_IRQ;
	return r;
}

static int start_unwind_tables(struct agent *agent, struct strbuf *reterr_msg)
{
	const struct unwind_tables_opts opts = {
		.memory = sample_source_unwind_memory(agent->source),
		.max_bytes = agent->options->unwind_memory_max,
		.cache_dir = agent->options->unwind_cache_dir,
		.debug_dir = agent->options->debug_dir,
	};
	int r = unwind_tables_start(&opts, &agent->tables);

	if (r < 0)
		strbuf_appendf(reterr_msg, "cannot start the unwinder: %s", strerror(-r));
	return r;
}

static int start_pipeline(struct agent *agent, struct strbuf *reterr_msg)
{
	char host_name[HOST_NAME_SIZE];
	struct debuginfod_opts debuginfod;

	(void)reterr_msg;
	host_name_find(agent->proc_fd, agent->options->node_name, host_name);
	struct pipeline_opts opts = {
		.proc_fd = agent->proc_fd,
		.pool = &agent->pool,
		.max_processes = MAX_PROCESSES,
		.tables = agent->tables,
		.source = agent->source,
		.selection = agent->selection,
		.interrupts = agent_sends(agent, OPTION_KIND_IRQ),
		.identity = { .cgroup_fs = agent->cgroup_fs,
			      .pods = agent->pods,
			      .watch = agent->watch,
			      .capture_backend = sample_source_profile_label(agent->source),
			      .node_name = agent->options->node_name,
			      .host_name = host_name },
		.sink = agent->sink,
		.sink_data = agent->sink_data,
	};
	pipeline_choice_apply(agent->options, &opts, &debuginfod);
	return pipeline_start(&opts, &agent->pipeline);
}

/* Started in this order; agent_free() stops them in reverse. */
static const struct stage {
	const char *name;
	int (*start)(struct agent *agent, struct strbuf *reterr_msg);
} stages[] = {
	{ "proc", start_proc },
	{ "cgroups", start_cgroups },
	{ "pods", start_pods },
	{ "target", start_target },
	{ "sideband", start_sideband },
	{ "capture", start_capture },
	{ "unwinder", start_unwind_tables },
	{ "pipeline", start_pipeline },
};

int agent_new(const struct options *options, agent_sink sink, void *sink_data,
	      struct strbuf *reterr_msg, struct agent **ret_agent)
{
	_cleanup_(agent_freep) struct agent *agent = calloc(1, sizeof(*agent));

	if (!agent)
		return -ENOMEM;
	*agent = (struct agent){ .options = options,
				 .sink = sink,
				 .sink_data = sink_data,
				 .pool.max_bytes = options->tables_memory_max,
				 .proc_fd = -EBADF,
				 .perf_reason = strbuf_with_max(REASON_MAX_BYTES) };
	for (size_t i = 0; i < array_len(stages); i++) {
		int r = stages[i].start(agent, reterr_msg);

		if (r < 0)
			return log_debug_errno(r, "cannot start %s", stages[i].name);
	}
	*ret_agent = take_ptr(agent);
	return 0;
}

/* Each of these calls also works if its stage did not start. */
void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	allocation_probes_stop(&agent->allocations);
	pipeline_free(agent->pipeline);
	unwind_tables_stop(agent->tables);
	sample_source_close(agent->source);
	strbuf_done(&agent->perf_reason);
	sideband_close(agent->sideband);
	selection_free(agent->selection);
	pod_watch_stop(agent->watch);
	pod_index_free(agent->pods);
	cgroup_fs_close(agent->cgroup_fs);
	cleanup_closep(&agent->proc_fd);
	free(agent);
}

static void start_blocks(struct agent *agent)
{
	if (agent->has_off_cpu)
		pipeline_start_blocks(agent->pipeline, sample_source_start_blocks(agent->source));
	pipeline_start_interrupts(agent->pipeline, clock_mono_ns());
}

int agent_start(struct agent *agent, struct strbuf *reterr_msg)
{
	agent->cpus = (struct cpu_follower){ .source = agent->source, .sideband = agent->sideband };

	int r = cpu_follower_follow(&agent->cpus);
	if (r == -ENODEV)
		strbuf_append_str(reterr_msg, "--cpu: none of these CPUs is online");
	else if (r < 0)
		capture_choice_explain_start(agent->options, r, reterr_msg);
	capture_choice_warn_of_small_rings(agent->source);
	agent->next_poll_ns = clock_mono_ns();
	agent->next_follow_ns = agent->next_poll_ns + FOLLOW_CPUS_NS;
	start_blocks(agent);
	return r < 0 ? r
		     : allocation_probes_start(&agent->allocations, agent->options, agent->proc_fd,
					       agent->source, reterr_msg);
}

int agent_set_period(struct agent *agent, uint64_t period_ns)
{
	int r = sample_source_set_period(agent->source, period_ns);

	pipeline_set_period(agent->pipeline, clock_mono_ns(), period_ns);
	return r;
}

int agent_require_target(struct agent *agent, struct strbuf *reterr_msg)
{
	struct pipeline_stats stats = pipeline_get_stats(agent->pipeline);

	int r = target_check_cgroups(agent->options, agent->cgroup_fs, reterr_msg);
	if (r < 0)
		return r;
	if (!selection_has_inclusions(agent->selection) || stats.filter.nr_wanted > 0)
		return 0;
	target_explain_none(agent->options, stats.filter.nr_excluded > 0, reterr_msg);
	return -ENOENT;
}

int agent_select(struct agent *agent, const struct options *options, struct strbuf *reterr_msg)
{
	_cleanup_(selection_freep) struct selection *selection = NULL;

	int r = target_select(options, agent->cgroup_fs, reterr_msg, &selection);
	if (r == 0)
		r = pods_set_keys(agent->watch, options);
	if (r < 0)
		return r;
	pipeline_select(agent->pipeline, selection);
	struct selection *old = agent->selection;
	agent->selection = selection;
	selection = old;
	return 0;
}

const char *agent_perf_reason(const struct agent *agent)
{
	return sample_source_profile_label(agent->source) ? strbuf_str(&agent->perf_reason) : NULL;
}

bool agent_has_off_cpu(const struct agent *agent)
{
	return agent->has_off_cpu && options_want_kind(agent->options, OPTION_KIND_OFF_CPU);
}

bool agent_sends(const struct agent *agent, enum option_kind kind)
{
	return agent->sent_kinds >> kind & 1;
}

bool agent_has_allocations(const struct agent *agent)
{
	return agent->allocations.finder != NULL;
}

uint32_t agent_nr_cpus(const struct agent *agent)
{
	return sample_source_nr_cpus(agent->source);
}

int agent_add_pid(struct agent *agent, uint32_t pid)
{
	return sample_source_add_pid(agent->source, pid);
}

static void on_cgroup(const struct cgroup_event *event, void *data)
{
	const struct agent *agent = data;

	pipeline_follow_cgroup(agent->pipeline, event);
}

static void catch_up(uint64_t time_ns, void *data)
{
	apply_events(data, time_ns);
}

static void meet_process(const struct sample_event *sample, uint64_t ip, void *data)
{
	const struct agent *agent = data;

	pipeline_meet_process(agent->pipeline, sample, ip);
}

/* Samples of the timer tell which processes matter, even if only blocks are wanted. */
static void add_sample(struct agent *agent, const struct sample_event *sample)
{
	if (options_want_kind(agent->options, OPTION_KIND_CPU) ||
	    options_want_event(agent->options))
		pipeline_add_sample(agent->pipeline, sample);
	else if (options_want_kind(agent->options, OPTION_KIND_WALL))
		pipeline_add_running(agent->pipeline, sample);
	else
		pipeline_learn_process(agent->pipeline, sample);
}

/* Of records that count also while the agent warms up. */
static void (*const handlers[RECORD_NR_KINDS])(struct pipeline *, const struct sample_event *) = {
	[RECORD_BLOCK_BEGIN] = pipeline_begin_block, [RECORD_BLOCK_END] = pipeline_end_block,
	[RECORD_BLOCK_LATE] = pipeline_add_block,    [RECORD_QUEUED] = pipeline_add_queued,
	[RECORD_WAKER] = pipeline_add_waker,	     [RECORD_INTERRUPT] = pipeline_add_interrupt,
	[RECORD_TIMES] = pipeline_add_times,
};

static void on_sample(const struct sample_event *sample, void *data)
{
	struct agent *agent = data;

	sample_source_poll_cgroups(agent->source, on_cgroup, agent);
	if (handlers[sample->kind])
		handlers[sample->kind](agent->pipeline, sample);
	else if (agent->is_warming_up)
		pipeline_learn_process(agent->pipeline, sample);
	else if (sample->kind == RECORD_LOCK)
		pipeline_add_lock(agent->pipeline, sample);
	else if (sample->kind == RECORD_GROWTH)
		pipeline_add_growth(agent->pipeline, sample);
	else if (sample->kind == RECORD_ALLOC || sample->kind == RECORD_FREE)
		pipeline_add_alloc(agent->pipeline, sample);
	else
		add_sample(agent, sample);
}

static void take_copy(const struct code_copy *copy, void *data)
{
	const struct agent *agent = data;

	pipeline_add_copy(agent->pipeline, copy);
}

static void ignore_time(uint64_t time_ns, void *data)
{
	(void)time_ns, (void)data;
}

static void poll_source(struct agent *agent)
{
	const struct sample_consumer consumer = {
		.catch_up = catch_up,
		.meet_process = meet_process,
		.handle = on_sample,
		.take_copy = take_copy,
		.data = agent,
	};

	sample_source_poll_cgroups(agent->source, on_cgroup, agent);
	sample_source_poll(agent->source, &consumer);
}

struct sample_source *agent_source(struct agent *agent)
{
	return agent->source;
}

void agent_poll_samples(struct agent *agent,
			void (*handle)(const struct sample_event *sample, void *data), void *data)
{
	const struct sample_consumer consumer = {
		.catch_up = ignore_time,
		.handle = handle,
		.data = data,
	};

	sample_source_poll_cgroups(agent->source, on_cgroup, agent);
	sample_source_poll(agent->source, &consumer);
}

void agent_learn_sample(struct agent *agent, const struct sample_event *sample)
{
	pipeline_learn_process(agent->pipeline, sample);
}

void agent_add_sample(struct agent *agent, const struct sample_event *sample)
{
	pipeline_add_sample(agent->pipeline, sample);
}

void agent_wait_learned(struct agent *agent, uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns(), next_ns;

	do {
		pipeline_tick(agent->pipeline, now);
		(void)table_slots_wait_idle(agent->tables->slots, deadline_ns);
		now = clock_mono_ns();
		next_ns = pipeline_next_tick_ns(agent->pipeline, now);
		if (next_ns == UINT64_MAX)
			break;
		(void)sample_source_wait(agent->source, min_u64(next_ns, deadline_ns));
		now = clock_mono_ns();
	} while (now < deadline_ns);
	pipeline_tick(agent->pipeline, now);
}

static void handle_pending(struct agent *agent)
{
	uint64_t now = clock_mono_ns();

	poll_source(agent);
	apply_events(agent, now);
	pipeline_tick(agent->pipeline, now);
	allocation_probes_tick(&agent->allocations);
	if (now < agent->next_follow_ns)
		return;
	agent->next_follow_ns = now + FOLLOW_CPUS_NS;
	if (cpu_follower_follow(&agent->cpus) < 0)
		log_warn("cannot sample any CPU; retrying every second");
}

void agent_poll(struct agent *agent, uint64_t deadline_ns)
{
	uint64_t now = clock_mono_ns();

	heartbeat_beat();
	if (agent->next_poll_ns <= now)
		agent->next_poll_ns = now + AGENT_POLL_NS;
	uint64_t until_ns = min_u64(min_u64(agent->next_poll_ns, deadline_ns),
				    pipeline_next_tick_ns(agent->pipeline, now));
	if (sample_source_wait(agent->source, until_ns)) {
		struct timespec wake = clock_timespec(clock_mono_ns() + URGENT_DELAY_NS);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
	handle_pending(agent);
}

void agent_warm_up(struct agent *agent)
{
	uint64_t start_ns = clock_mono_ns();

	agent->is_warming_up = true;
	while (clock_mono_ns() < start_ns + WARM_UP_MIN_NS)
		agent_poll(agent, start_ns + WARM_UP_MIN_NS);
	(void)table_slots_wait_idle(agent->tables->slots, start_ns + WARM_UP_MAX_NS);
	agent_poll(agent, clock_mono_ns());
	agent->is_warming_up = false;
	start_blocks(agent);
}

/* Waits for the symbolizer. Its time is limited once the end is asked for, maybe meanwhile. */
static int drain(struct agent *agent, uint64_t max_ns)
{
	while (!pipeline_wait(agent->pipeline, clock_mono_ns() + AGENT_POLL_NS)) {
		uint64_t asked_ns = signals_stop_ns();

		heartbeat_beat();
		if (asked_ns == UINT64_MAX)
			continue;
		pipeline_give_up(agent->pipeline, asked_ns + LAST_NAMES_NS);
		if (clock_mono_ns() >= asked_ns + max_ns)
			return -ETIMEDOUT;
	}
	return 0;
}

int agent_stop(struct agent *agent, uint64_t max_ns)
{
	sample_source_stop(agent->source);
	poll_source(agent);
	pipeline_close(agent->pipeline);
	int r = drain(agent, max_ns);
	if (r < 0)
		log_warn("lost the last %llu samples: they could not be symbolized in time",
			 (unsigned long long)pipeline_abandon(agent->pipeline));
	return r;
}

void agent_get_stats(struct agent *agent, struct agent_stats *ret_stats)
{
	sample_source_get_stats(agent->source, &ret_stats->capture);
	ret_stats->sideband = sideband_get_stats(agent->sideband);
	ret_stats->nr_resyncs = agent->nr_resyncs;
	ret_stats->tables = unwind_tables_get_stats(agent->tables);
	ret_stats->pipeline = pipeline_get_stats(agent->pipeline);
	ret_stats->pods = pod_watch_get_stats(agent->watch);
	ret_stats->index = pod_index_get_stats(agent->pods);
	ret_stats->probes = allocation_probes_get_stats(&agent->allocations);
}

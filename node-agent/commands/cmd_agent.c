/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet agent: samples until it is told to stop, and sends profiles. */
#include "agent/agent.h"
#include "agent/counters.h"
#include "agent/exporters.h"
#include "agent/host_name.h"
#include "agent/monitor.h"
#include "agent/reload.h"
#include "agent/signals.h"
#include "agent/trigger_rules.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "commands/commands.h"
#include "commands/kind_type.h"
#include "privilege/least_privilege.h"
#include "privilege/privileges.h"
#include "store/store_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 4096
#define READER_MAX_NS (30 * NSEC_PER_SEC)

/* Time for the last windows after a signal requested the end. The rest of the time is for
 * sending. */
#define LAST_WINDOWS_NS (3500 * NSEC_PER_MSEC)

/* Time until sending ends, from that signal on. It takes up to a second more to abandon a request
 * in progress, and everything ends before SIGNALS_END_NS. Profiles that are not sent by then stay
 * in the queue's directory, or are lost without one. */
#define LAST_SENDING_NS (5500 * NSEC_PER_MSEC)
#define COUNTERS_LOG_NS (5 * 60 * NSEC_PER_SEC)

/* Who takes finished profiles; all borrowed. */
struct sinks {
	struct exporters *exporters;
	struct store_writer *store; /* NULL: no record is written */
};

static void push_profile(struct profile *profile, void *data)
{
	const struct sinks *sinks = data;

	exporters_push(sinks->exporters, profile);
	if (sinks->store && kind_type_word(profile->type))
		store_writer_push(sinks->store, profile);
}

/* The parts that run side by side until the end; all borrowed. */
struct parts {
	struct agent *agent;
	struct exporters *exporters;
	struct store_writer *store; /* NULL: no record is written */
	struct trigger_rules *triggers;
	struct reload *reload;
	struct monitor *monitor; /* NULL: nothing listens */
};

static struct counters get_counters(const struct parts *parts)
{
	struct counters counters = { .exporter = exporters_get_stats(parts->exporters),
				     .reload = reload_get_stats(parts->reload) };

	agent_get_stats(parts->agent, &counters.agent);
	if (parts->store)
		counters.store = store_writer_get_stats(parts->store);
	counters.webhook = webhook_get_stats(parts->triggers->webhook);
	counters.boost = boost_get_stats(&parts->triggers->boost);
	return counters;
}

/* Logs what became of the samples, and then all counters, which programs may read. At a terminal,
 * the counters appear only with the log level "debug". */
static void log_counters(const struct parts *parts, const char *when)
{
	_cleanup_(strbuf_done) struct strbuf brief = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf all = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct counters counters = get_counters(parts);

	counters_append_brief(&counters, &brief);
	counters_format(&counters, &all);
	log_info("%s: %s", when, strbuf_str(&brief));
	if (isatty(STDERR_FILENO))
		log_debug("counters: %s", strbuf_str(&all));
	else
		log_info("counters: %s", strbuf_str(&all));
}

/* Warns if the selection matches nothing. This may be a typing error, or the target may start
 * later. */
static void warn_if_no_target(struct agent *agent)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	if (agent_require_target(agent, &message) < 0)
		log_warn("nothing is profiled: %s; matching pods will be profiled when they start",
			 strbuf_str(&message));
}

/* Applies a changed selection. The configuration is valid, so this only fails without memory. */
static void change_selection(struct agent *agent, const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = agent_select(agent, options, &message);
	if (r < 0)
		log_warn_errno(r, "keeping the old selection of pods: %s", strbuf_str(&message));
	else
		log_info("the selection of pods has changed");
	warn_if_no_target(agent);
}

static int start_monitor(const struct options *options, struct exporters *exporters,
			 const struct trigger_rules *triggers, struct strbuf *reterr_msg,
			 struct monitor **ret_monitor)
{
	const struct monitor_opts opts = { .listen = options->listen,
					   .metrics_listen = options->metrics_listen,
					   .has_kubelet = options->kubelet_url,
					   .triggers = triggers,
					   .exporters = exporters };

	if (!opts.listen && !opts.metrics_listen)
		return 0;
	int r = monitor_start(&opts, reterr_msg, ret_monitor);
	if (r < 0)
		return r;
	if (opts.listen)
		log_info("serving health and metrics on %s", opts.listen);
	if (opts.metrics_listen)
		log_info("serving metrics on %s", opts.metrics_listen);
	return 0;
}

/* On the thread "store". */
static void report_firing(const struct trigger_firing *firing, void *data)
{
	trigger_rules_report(data, firing);
}

/* The same. */
static bool begin_boost(struct trigger_boost *ret_boost, void *data)
{
	struct trigger_rules *triggers = data;

	return boost_begin(&triggers->boost, ret_boost);
}

static int start_store(const struct options *options, struct trigger_rules *triggers,
		       struct strbuf *reterr_msg, struct store_writer **ret_store)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char host[HOST_NAME_SIZE];

	if (!options->store_dir)
		return 0;
	host_name_find(proc_fd, options->node_name, host);
	const struct store_writer_opts opts = {
		.recorder = { .dir = options->store_dir,
			      .host = host,
			      .max_bytes = options->store_max,
			      .per_day = options->store_per_day,
			      .max_age_s = options->store_age_ns / NSEC_PER_SEC,
			      .with_cpu = options->store_cpu,
			      .triggers = { .rules = triggers->items,
					    .nr_rules = triggers->nr,
					    .around_s = options->trigger_around_ns / NSEC_PER_SEC,
					    .max_per_hour = options->trigger_per_hour,
					    .notify = report_firing,
					    .notify_data = triggers,
					    .begin_boost = begin_boost,
					    .boost_data = triggers } },
		.proc_fd = proc_fd,
		.cgroup_root = options->cgroup_root,
		.gpu_library = options->gpu ? options->gpu_library : NULL,
	};
	int r = trigger_rules_start(triggers, options, host, reterr_msg);
	if (r < 0)
		return r;
	r = store_writer_start(&opts, &reason, ret_store);
	if (r < 0)
		strbuf_appendf(reterr_msg, "--store %s: %s", options->store_dir,
			       reason.len > 0 ? strbuf_str(&reason) : strerror(-r));
	return r;
}

static void append_kind(bool is_wanted, const char *text, struct strbuf *out)
{
	if (is_wanted)
		strbuf_appendf(out, "%s%s", out->len > 0 ? " and " : "", text);
}

static void describe_kinds(const struct options *options, const struct agent *agent,
			   struct strbuf *out)
{
	if (options_want_kind(options, OPTION_KIND_CPU))
		strbuf_appendf(out, "sampling at %u Hz", options->frequency_hz);
	if (options->trigger_boost_hz > 0)
		strbuf_appendf(out, " (%u Hz after a trigger)", boost_frequency(options));
	append_kind(agent_has_off_cpu(agent), "recording waits of threads", out);
	append_kind(agent_sends(agent, OPTION_KIND_LOCK), "recording waits for locks", out);
	append_kind(agent_sends(agent, OPTION_KIND_GROWTH), "recording growth of memory", out);
	append_kind(agent_has_allocations(agent), "recording allocations", out);
	append_kind(agent_sends(agent, OPTION_KIND_IRQ), "recording time in interrupts", out);
}

/* Logs what is profiled, and where the profiles go. */
static void log_start(const struct options *options, const struct agent *agent,
		      const struct exporters *exporters)
{
	_cleanup_(strbuf_done) struct strbuf what = strbuf_with_max(MESSAGE_MAX_BYTES);
	const char *endpoint = options->nr_destinations > 0 ? options->destinations[0].endpoint
							    : "";

	describe_kinds(options, agent, &what);
	if (options->nr_destinations > 0)
		log_info("%s, sending to %.*s every %llu s (destinations: %zu)", strbuf_str(&what),
			 (int)strcspn(endpoint, "?#"), endpoint, /* a query may be a key */
			 (unsigned long long)(options->export_interval_ns / NSEC_PER_SEC),
			 exporters_nr(exporters));
	else
		log_info("%s, sending nowhere", strbuf_str(&what));
	if (options->store_dir)
		log_info("keeping a record in %s", options->store_dir);
}

static void publish(const struct parts *parts)
{
	uint64_t now_ns = clock_mono_ns();

	if (!monitor_is_due(parts->monitor, now_ns))
		return;
	struct counters counters = get_counters(parts);
	monitor_publish(parts->monitor, &counters, now_ns);
}

/* State of the log lines about threads that hang. */
struct hanging {
	bool is_logged; /* the last line said that a thread hangs */
	uint64_t next_ns; /* time of the next check, CLOCK_MONOTONIC */
};

/* Logs one line when a thread hangs, and one when all threads move again. */
static void log_hanging(struct hanging *hanging)
{
	uint64_t now_ns = clock_mono_ns();
	struct heartbeat late;

	if (now_ns < hanging->next_ns)
		return;
	hanging->next_ns = now_ns + HEARTBEAT_TICK_NS;
	bool is_late = heartbeat_find_late(now_ns, &late);
	if (is_late && !hanging->is_logged)
		log_error("the thread %s has made no progress for %llu s (limit %llu s)", late.name,
			  (unsigned long long)(late.age_ns / NSEC_PER_SEC),
			  (unsigned long long)(late.max_ns / NSEC_PER_SEC));
	else if (!is_late && hanging->is_logged)
		log_info("all threads are making progress again");
	hanging->is_logged = is_late;
}

static void run(const struct parts *parts)
{
	uint64_t next_log_ns = clock_mono_ns() + COUNTERS_LOG_NS;
	struct hanging hanging = { 0 };

	heartbeat_begin("reader", READER_MAX_NS);
	while (!signals_stop_requested()) {
		boost_tick(&parts->triggers->boost, parts->agent, clock_mono_ns());
		agent_poll(parts->agent, UINT64_MAX);
		const struct options *options = reload_poll(parts->reload, clock_mono_ns());

		if (options)
			change_selection(parts->agent, options);
		publish(parts);
		log_hanging(&hanging);
		if (clock_mono_ns() < next_log_ns)
			continue;
		next_log_ns += COUNTERS_LOG_NS;
		log_counters(parts, "so far");
	}
	heartbeat_end(); /* from now on this thread only waits for the others to end */
}

static void finish(const struct parts *parts)
{
	monitor_stopping(parts->monitor);
	int r = agent_stop(parts->agent, LAST_WINDOWS_NS);
	(void)r; /* what was lost is among the counters */
	if (parts->store)
		store_writer_finish(parts->store);
	exporters_finish(parts->exporters, signals_stop_ns() + LAST_SENDING_NS);
	webhook_finish(parts->triggers->webhook, signals_stop_ns() + LAST_SENDING_NS);
	log_counters(parts, "stopped");
	signals_done(STATUS_OK);
}

/* The agent has to be freed after a failure, too. */
static int start_agent(const struct options *options, struct sinks *sinks,
		       const struct boost *boost, struct strbuf *reterr_msg,
		       struct agent **ret_agent)
{
	int r = agent_new(options, push_profile, sinks, reterr_msg, ret_agent);

	if (r == 0)
		r = boost_prepare(boost, *ret_agent);
	return r < 0 ? r : agent_start(*ret_agent, reterr_msg);
}

int cmd_agent(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(exporters_stopp) struct exporters *exporters = NULL;
	_cleanup_(trigger_rules_done) struct trigger_rules triggers = { 0 };
	_cleanup_(store_writer_stopp) struct store_writer *store = NULL;
	_cleanup_(reload_freep) struct reload *reload = NULL;
	struct sinks sinks;
	_cleanup_(agent_freep) struct agent *agent = NULL;
	_cleanup_(monitor_stopp) struct monitor *monitor =
		NULL; /* stopped first, with its socket file */

	if (options->nr_destinations == 0 && !options->store_dir) {
		fputs("flamelet: no destination configured: set --otlp-endpoint URL, or --store "
		      "DIR to "
		      "keep the profiles here\n",
		      stderr);
		return STATUS_USAGE;
	}
	if (options->gpu && !options->store_dir) {
		fputs("flamelet: --gpu needs --store DIR: it keeps what GPUs do there\n", stderr);
		return STATUS_USAGE;
	}
	int r = trigger_rules_read(options, &message, &triggers);
	if (r < 0) {
		fprintf(stderr, "flamelet: %s\n", strbuf_str(&message));
		return STATUS_USAGE;
	}
	r = privileges_check(backend_set_wanted(options), &message);
	if (r == 0) {
		least_privilege_begin(backend_set_wanted(options)); /* before there are threads */
		r = signals_setup(EXPORTERS_LOSS, STATUS_FAILED);
	}
	if (r == 0 && options->config_file)
		signals_reload_on_hang_up();
	if (r == 0)
		r = reload_new(&options->input, options, &reload);
	if (r == 0)
		r = exporters_start(options, options->export_interval_ns, &message, &exporters);
	if (r == 0)
		r = start_store(options, &triggers, &message, &store);
	if (r == 0)
		r = start_monitor(options, exporters, &triggers, &message, &monitor);
	sinks = (struct sinks){ exporters, store };
	if (r == 0)
		r = start_agent(options, &sinks, &triggers.boost, &message, &agent);
	if (r < 0) {
		log_error_errno(message.len > 0 ? 0 : r, "%s",
				message.len > 0 ? message.data : "cannot start the agent");
		signals_done(STATUS_FAILED);
		return STATUS_FAILED;
	}
	least_privilege_finish(!agent_perf_reason(agent));
	log_start(options, agent, exporters);
	warn_if_no_target(agent);

	const struct parts parts = { agent, exporters, store, &triggers, reload, monitor };
	run(&parts);
	finish(&parts);
	return STATUS_OK;
}

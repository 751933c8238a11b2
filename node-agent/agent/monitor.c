/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/monitor.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "selfmon/health.h"
#include "selfmon/http_server.h"
#include "selfmon/metric_text.h"

#define PUBLISH_INTERVAL_NS NSEC_PER_SEC
#define PROBLEM_MAX_BYTES 128
#define AGE_FAMILY "flamelet_thread_heartbeat_age_seconds"
#define TEXT_TYPE "text/plain; charset=utf-8"

struct monitor {
	struct monitor_opts opts; /* the addresses do not outlive the start */
	struct http_server *server; /* this and the next: NULL: none */
	struct http_server *metrics_server;
	uint64_t start_ns; /* of the process, Unix time */
	uint64_t next_ns; /* the reader's */

	pthread_mutex_t lock;
	/* guarded by lock */
	struct health health;
	struct counters counters;
};

static unsigned int make_index(struct strbuf *body, void *data)
{
	(void)data;
	strbuf_append_str(body, "Flamelet " FLAMELET_VERSION "\n/healthz        is the agent "
				"alive?\n/readyz         does it take "
				"samples, with the names of "
				"pods?\n/metrics        metrics for "
				"Prometheus\n/metrics/debug  more "
				"metrics, for troubleshooting\n");
	return 200;
}

static struct health get_health(struct monitor *monitor)
{
	LOCKED(&monitor->lock);

	return monitor->health;
}

/* Names a thread that hangs in `text`, and returns it; NULL if none does. While the agent stops,
 * its threads need not move any more. */
static const char *find_hanging(const struct health *health, uint64_t now_ns,
				char text[static PROBLEM_MAX_BYTES])
{
	struct heartbeat late;

	if (health->is_stopping || !heartbeat_find_late(now_ns, &late))
		return NULL;
	snprintf(text, PROBLEM_MAX_BYTES, "the thread %s has made no progress for %llu s",
		 late.name, (unsigned long long)(late.age_ns / NSEC_PER_SEC));
	return text;
}

/* Says what is wrong, or "ok", and what is missing all the same. */
static unsigned int make_verdict(struct strbuf *body, struct monitor *monitor, bool is_readyz)
{
	struct health health = get_health(monitor);
	uint64_t now_ns = clock_mono_ns();
	char text[PROBLEM_MAX_BYTES];

	const char *problem = find_hanging(&health, now_ns, text);
	if (!problem)
		problem = is_readyz ? health_unready(&health, now_ns)
				    : health_problem(&health, now_ns);
	if (problem)
		strbuf_appendf(body, "%s\n", problem);
	else if (is_readyz && health.missing)
		strbuf_appendf(body, "ok, but %s\n", health.missing);
	else
		strbuf_append_str(body, "ok\n");
	return problem ? 503 : 200;
}

static unsigned int make_healthz(struct strbuf *body, void *data)
{
	return make_verdict(body, data, false);
}

static unsigned int make_readyz(struct strbuf *body, void *data)
{
	return make_verdict(body, data, true);
}

static void expose_threads(struct strbuf *body)
{
	struct heartbeat list[HEARTBEAT_MAX_THREADS];
	size_t nr = heartbeat_list(clock_mono_ns(), list);

	metric_text_head(body, AGE_FAMILY, METRIC_GAUGE,
			 "Time since the last heartbeat of each thread.");
	for (size_t i = 0; i < nr; i++) {
		const struct metric_series series = { AGE_FAMILY, "thread", list[i].name };

		metric_text_ns(body, &series, list[i].age_ns);
	}
}

static struct counters get_counters(struct monitor *monitor)
{
	LOCKED(&monitor->lock);

	return monitor->counters;
}

static unsigned int make_metrics(struct strbuf *body, void *data)
{
	struct monitor *monitor = data;
	struct counters counters = get_counters(monitor);

	counters.self = self_stats_read();
	counters.self.start_ns = monitor->start_ns;
	counters_expose(&counters, COUNTERS_OPERATION, body);
	expose_threads(body);
	if (monitor->opts.triggers)
		trigger_rules_expose(monitor->opts.triggers, body);
	if (monitor->opts.exporters)
		exporters_expose(monitor->opts.exporters, body);
	return 200;
}

static unsigned int make_debug_metrics(struct strbuf *body, void *data)
{
	struct counters counters = get_counters(data);

	counters_expose(&counters, COUNTERS_DEBUG, body);
	return 200;
}

static const struct http_page pages[] = {
	{ "/", TEXT_TYPE, make_index },
	{ "/healthz", TEXT_TYPE, make_healthz },
	{ "/readyz", TEXT_TYPE, make_readyz },
	{ "/metrics", METRIC_TEXT_TYPE, make_metrics },
	{ "/metrics/debug", METRIC_TEXT_TYPE, make_debug_metrics },
};

static const struct http_page metrics_pages[] = {
	{ "/metrics", METRIC_TEXT_TYPE, make_metrics },
	{ "/metrics/debug", METRIC_TEXT_TYPE, make_debug_metrics },
};

static int start_server(struct monitor *monitor, struct strbuf *reterr_msg)
{
	const struct http_server_opts opts = { .thread_name = "http",
					       .listen = monitor->opts.listen,
					       .pages = pages,
					       .nr_pages = array_len(pages),
					       .data = monitor };

	return opts.listen ? http_server_start(&opts, reterr_msg, &monitor->server) : 0;
}

/* A server of its own: a flood of requests for metrics cannot keep /healthz from answering. */
static int start_metrics_server(struct monitor *monitor, struct strbuf *reterr_msg)
{
	const struct http_server_opts opts = { .thread_name = "metrics",
					       .listen = monitor->opts.metrics_listen,
					       .is_public = true,
					       .pages = metrics_pages,
					       .nr_pages = array_len(metrics_pages),
					       .data = monitor };

	return opts.listen ? http_server_start(&opts, reterr_msg, &monitor->metrics_server) : 0;
}

int monitor_start(const struct monitor_opts *opts, struct strbuf *reterr_msg,
		  struct monitor **ret_monitor)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = calloc(1, sizeof(*monitor));

	if (!monitor)
		return -ENOMEM;
	monitor->opts = *opts;
	pthread_mutex_init(&monitor->lock, NULL);
	health_init(&monitor->health, clock_mono_ns());
	if (self_stats_start_ns(&monitor->start_ns) < 0)
		monitor->start_ns = clock_real_ns();

	int r = start_server(monitor, reterr_msg);
	if (r == 0)
		r = start_metrics_server(monitor, reterr_msg);
	if (r == 0)
		*ret_monitor = take_ptr(monitor);
	return r;
}

void monitor_stop(struct monitor *monitor)
{
	if (!monitor)
		return;
	http_server_stop(monitor->metrics_server);
	http_server_stop(monitor->server);
	pthread_mutex_destroy(&monitor->lock);
	free(monitor);
}

bool monitor_is_due(const struct monitor *monitor, uint64_t now_ns)
{
	return monitor && now_ns >= monitor->next_ns;
}

/* Returns why pods have no names yet; NULL if they have. */
static const char *kubelet_problem(const struct monitor *monitor,
				   const struct pod_watch_stats *stats)
{
	if (!monitor->opts.has_kubelet || stats->nr_refreshes > 0)
		return NULL;
	if (stats->nr_forbidden > 0)
		return "the kubelet forbids the request (403): the log has the missing RBAC rule";
	if (stats->nr_unauthorized > 0)
		return "the kubelet does not accept the token (401)";
	if (stats->nr_untrusted > 0)
		return "the kubelet's certificate cannot be verified: see --kubelet-verify";
	return stats->nr_failures > 0
		       ? "the kubelet has not returned a list of pods yet; see the agent's log"
		       : "the kubelet has not answered yet";
}

void monitor_publish(struct monitor *monitor, const struct counters *counters, uint64_t now_ns)
{
	const struct health_beat beat = {
		.time_ns = now_ns,
		.nr_windows = counters->agent.pipeline.nr_windows,
		.nr_finished = counters->agent.pipeline.nr_windows_finished,
		.missing = kubelet_problem(monitor, &counters->agent.pods),
	};

	monitor->next_ns = now_ns + PUBLISH_INTERVAL_NS;
	LOCKED(&monitor->lock);

	monitor->counters = *counters;
	health_beat(&monitor->health, &beat);
}

void monitor_stopping(struct monitor *monitor)
{
	if (!monitor)
		return;
	LOCKED(&monitor->lock);

	health_stopping(&monitor->health);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's HTTP pages about itself: clients on the same machine get /healthz, /readyz and
 * /metrics, other hosts only /metrics. Once a second, the reader thread stores a copy of all
 * counters here, which is also its heartbeat. The servers' threads answer from the copy, so no
 * thread waits for longer than copying takes. */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include "agent/counters.h"
#include "agent/exporters.h"
#include "agent/trigger_rules.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct monitor;

struct monitor_opts {
	const char *listen; /* all pages, for this machine; NULL: not served */
	const char *metrics_listen; /* metrics alone, also for other machines; NULL: not served */
	bool has_kubelet; /* its first answer is waited for; see health.h */
	const struct trigger_rules *triggers; /* borrowed; NULL: none */
	struct exporters *exporters; /* borrowed: where profiles go; NULL: nowhere */
};

/* Starts to answer, at first with "starting". On failure `reterr_msg` says why. Errors: those of
 * http_server_start(). */
int monitor_start(const struct monitor_opts *opts, struct strbuf *reterr_msg,
		  struct monitor **ret_monitor) must_check;

/* NULL is fine. */
void monitor_stop(struct monitor *monitor);
DEFINE_FREEP(struct monitor, monitor_stop)

/* For the reader: returns whether new counters are due; false without a monitor (NULL). */
bool monitor_is_due(const struct monitor *monitor, uint64_t now_ns);
void monitor_publish(struct monitor *monitor, const struct counters *counters, uint64_t now_ns);

/* The agent stops, so it is not ready any more. NULL is fine. */
void monitor_stopping(struct monitor *monitor);

#endif

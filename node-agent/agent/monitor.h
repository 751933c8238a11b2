/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent tells about itself over HTTP: /healthz, /readyz and /metrics to its own machine,
 * /metrics alone to others. The reader leaves a copy of all counters here once a second, which is
 * its heartbeat; the servers' threads answer from the copy. Nobody waits for more than that
 * copy. */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include "agent/counters.h"
#include "agent/exporters.h"
#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct monitor;

struct monitor_opts {
	const char *listen; /* all pages, for this machine; NULL: not served */
	const char *metrics_listen; /* metrics alone, for others, too; NULL: not served */
	bool has_kubelet; /* its first answer is waited for; see health.h */
	struct exporters *exporters; /* borrowed: where profiles go; NULL: nowhere */
};

/* From now on it answers, "starting" at first. On failure `reterr_msg` says why. Errors: those of
 * http_server_start(). */
int monitor_start(const struct monitor_opts *opts, struct strbuf *reterr_msg,
		  struct monitor **ret_monitor) must_check;

/* NULL is fine. */
void monitor_stop(struct monitor *monitor);
DEFINE_FREEP(struct monitor, monitor_stop)

/* The reader's calls. Whether new counters are due; never without a monitor (NULL). */
bool monitor_is_due(const struct monitor *monitor, uint64_t now_ns);
void monitor_publish(struct monitor *monitor, const struct counters *counters, uint64_t now_ns);

/* The end has begun: not ready any more. NULL is fine. */
void monitor_stopping(struct monitor *monitor);

#endif

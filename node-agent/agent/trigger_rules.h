/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of --trigger in the agent: read from the options, reported when they fire, and shown as
 * metrics. */
#ifndef AGENT_TRIGGER_RULES_H
#define AGENT_TRIGGER_RULES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "agent/boost.h"
#include "agent/webhook.h"
#include "config/options.h"
#include "store/triggers.h"

#include <stddef.h>
#include <stdint.h>

struct trigger_rules {
	struct trigger_rule items[TRIGGER_MAX_RULES];
	size_t nr;
	uint64_t nr_firings[TRIGGER_MAX_RULES]; /* atomic */
	struct webhook *webhook; /* owned; NULL: no server is told */
	struct boost boost;
};

/* Reads the rules, and checks the other options of triggers. trigger_rules_done() is needed after a
 * failure, too. On failure `reterr_msg` says which option is wrong, and why. Errors: -EINVAL, those
 * of webhook_read_url() and boost_init(). */
int trigger_rules_read(const struct options *options, struct strbuf *reterr_msg,
		       struct trigger_rules *ret_rules) must_check;

/* Stops telling a server. */
void trigger_rules_done(struct trigger_rules *rules);

/* Starts to tell a server, if the options name one. `host` is the name of this machine. Errors:
 * those of webhook_start(). */
int trigger_rules_start(struct trigger_rules *rules, const struct options *options,
			const char *host, struct strbuf *reterr_msg) must_check;

/* Logs a line about one of the rules, which fires, counts it, and has the server told. */
void trigger_rules_report(struct trigger_rules *rules, const struct trigger_firing *firing);

/* Appends how often each rule fired, as metrics. Without rules, there are none. For any thread. */
void trigger_rules_expose(const struct trigger_rules *rules, struct strbuf *out);

#endif

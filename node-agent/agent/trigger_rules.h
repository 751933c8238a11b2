/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of --trigger in the agent: read from the options, reported when they fire, and shown as
 * metrics. */
#ifndef AGENT_TRIGGER_RULES_H
#define AGENT_TRIGGER_RULES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/triggers.h"

#include <stddef.h>
#include <stdint.h>

struct trigger_rules {
	struct trigger_rule items[TRIGGER_MAX_RULES];
	size_t nr;
	uint64_t nr_firings[TRIGGER_MAX_RULES]; /* atomic */
};

/* Reads the rules. On failure `reterr_msg` says which option is wrong, and why. Errors: -EINVAL. */
int trigger_rules_read(const struct options *options, struct strbuf *reterr_msg,
		       struct trigger_rules *ret_rules) must_check;

/* Logs a line about one of the rules, which fires, and counts it. */
void trigger_rules_report(struct trigger_rules *rules, const struct trigger_firing *firing);

/* Appends how often each rule fired, as metrics. Without rules, there are none. For any thread. */
void trigger_rules_expose(const struct trigger_rules *rules, struct strbuf *out);

#endif

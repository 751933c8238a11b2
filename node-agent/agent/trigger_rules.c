/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/trigger_rules.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "selfmon/metric_text.h"

#include <inttypes.h>
#include <string.h>

#define URL_MAX_BYTES 4096
#define FAMILY "flamelet_trigger_firings_total"

static int check_others(const struct options *options, struct strbuf *message)
{
	if (!options->store_dir) {
		strbuf_append_str(message, "--trigger needs --store DIR: it keeps the time before "
					   "and after, which the record has");
		return -EINVAL;
	}
	if (options->triggers.nr > TRIGGER_MAX_RULES) {
		strbuf_appendf(message, "there are %zu rules of --trigger; at most %d are possible",
			       options->triggers.nr, TRIGGER_MAX_RULES);
		return -EINVAL;
	}
	return 0;
}

static bool has_rule(const struct trigger_rules *rules, const char *text)
{
	for (size_t i = 0; i < rules->nr; i++)
		if (strcmp(rules->items[i].text, text) == 0)
			return true;
	return false;
}

/* A rule that is there twice would fire twice, with one name. */
static int add(const char *text, struct strbuf *message, struct trigger_rules *rules)
{
	struct trigger_rule *rule = &rules->items[rules->nr];

	strbuf_appendf(message, "--trigger '%s': ", text);
	int r = trigger_rule_parse(text, message, rule);
	if (r == 0 && has_rule(rules, rule->text)) {
		strbuf_append_str(message, "the rule is there twice");
		r = -EINVAL;
	}
	if (r < 0)
		return r;
	strbuf_clear(message);
	rules->nr++;
	return 0;
}

void trigger_rules_done(struct trigger_rules *rules)
{
	webhook_stop(rules->webhook);
	rules->webhook = NULL;
}

int trigger_rules_start(struct trigger_rules *rules, const struct options *options,
			const char *host, struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);

	int r = webhook_read_url(options, reterr_msg, &url);
	if (r == 0 && url.len > 0)
		r = webhook_start(strbuf_str(&url), host, &rules->webhook);
	return r;
}

int trigger_rules_read(const struct options *options, struct strbuf *reterr_msg,
		       struct trigger_rules *ret_rules)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);
	int r = 0;

	*ret_rules = (struct trigger_rules){ 0 };
	if (options->triggers.nr > 0)
		r = check_others(options, reterr_msg);
	for (size_t i = 0; r == 0 && i < options->triggers.nr; i++)
		r = add(options->triggers.items[i], reterr_msg, ret_rules);
	if (r == 0)
		r = webhook_read_url(options, reterr_msg, &url);
	if (r == 0)
		r = boost_init(&ret_rules->boost, options, reterr_msg);
	return r;
}

void trigger_rules_report(struct trigger_rules *rules, const struct trigger_firing *firing)
{
	size_t rule = (size_t)(firing->rule - rules->items);

	__atomic_add_fetch(&rules->nr_firings[rule], 1, __ATOMIC_RELAXED);
	if (rules->webhook)
		webhook_push(rules->webhook, firing);
	log_warn("%s (event e%" PRIu64 ")", firing->event->text, firing->event->number);
}

void trigger_rules_expose(const struct trigger_rules *rules, struct strbuf *out)
{
	if (rules->nr == 0)
		return;
	metric_text_head(out, FAMILY, METRIC_COUNTER, "Times that each rule of --trigger fired.");
	for (size_t i = 0; i < rules->nr; i++) {
		const struct metric_series series = { FAMILY, "rule", rules->items[i].text };

		metric_text_count(out, &series,
				  __atomic_load_n(&rules->nr_firings[i], __ATOMIC_RELAXED));
	}
}

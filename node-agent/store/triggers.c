/* SPDX-License-Identifier: Apache-2.0 */
#include "store/triggers.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "store/trigger_spell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WATCHES 256
#define LEAP_S 60

/* A rule and a subject whose value is, or was a moment ago, above the limit. */
struct trigger_watch {
	size_t rule;
	char *subject, *selector; /* owned */
	struct trigger_spell spell;
	uint64_t first_s, end_s; /* of the seconds above the limit; `end_s` is behind the last */
	double peak;
	uint64_t number; /* of the event; 0: it has none */
	uint64_t fired_s; /* the second for which it fired */
	bool is_untold; /* it fired, and nobody was notified yet */
	char *contributor; /* owned; NULL: none is known */
	struct trigger_boost boost;
	bool is_seen; /* in this second */
};

static void watch_done(struct trigger_watch *watch)
{
	free(watch->subject);
	free(watch->selector);
	free(watch->contributor);
}

void triggers_init(struct triggers *triggers, const struct triggers_opts *opts)
{
	*triggers = (struct triggers){ .opts = *opts };
}

void triggers_done(struct triggers *triggers)
{
	for (size_t i = 0; i < triggers->nr_watches; i++)
		watch_done(&triggers->watches[i]);
	free(triggers->watches);
	trigger_values_done(&triggers->values);
	*triggers = (struct triggers){ 0 };
}

/* Events. */

static void append_time(uint64_t second, struct strbuf *out)
{
	time_t time = (time_t)second;
	char text[sizeof("23:59:59")] = "";
	struct tm utc;

	if (gmtime_r(&time, &utc))
		strftime(text, sizeof(text), "%H:%M:%S", &utc);
	strbuf_append_str(out, text);
}

static void append_boost(const struct trigger_boost *boost, struct strbuf *out)
{
	if (boost->range.end_s == 0)
		return;
	strbuf_appendf(out, "; sampled at %u Hz from ", boost->frequency_hz);
	append_time(boost->range.first_s, out);
	strbuf_append_str(out, " to ");
	append_time(boost->range.end_s, out);
	strbuf_append_str(out, " UTC");
}

static void write_text(const struct trigger_rule *rule, const struct trigger_watch *watch,
		       struct event *event)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(sizeof(event->text) - 1);

	strbuf_appendf(&text, "Trigger %s: %s%s had up to ", rule->text,
		       strcmp(watch->subject, "node") == 0 ? "the " : "", watch->subject);
	trigger_rule_append_value(rule, watch->peak, &text);
	strbuf_appendf(&text, " for %llu s", (unsigned long long)(watch->end_s - watch->first_s));
	if (watch->contributor)
		strbuf_appendf(&text, "; CPU use rose most in %s", watch->contributor);
	append_boost(&watch->boost, &text);
	snprintf(event->text, sizeof(event->text), "%s", strbuf_str(&text));
}

static void make_event(const struct trigger_rule *rule, const struct trigger_watch *watch,
		       bool is_open, struct event *event)
{
	*event = (struct event){
		.number = watch->number,
		.kind = EVENT_TRIGGER,
		.is_open = is_open,
		.first_s = watch->first_s,
		.end_s = watch->end_s,
	};
	snprintf(event->subject, sizeof(event->subject), "%s", watch->subject);
	snprintf(event->selector, sizeof(event->selector), "%s", watch->selector);
	write_text(rule, watch, event);
}

static const struct trigger_rule *rule_of(const struct triggers *triggers,
					  const struct trigger_watch *watch)
{
	return &triggers->opts.rules[watch->rule];
}

static void update_event(const struct triggers *triggers, const struct trigger_watch *watch,
			 bool is_open, struct event_detector *detector)
{
	struct event event;

	if (watch->number == 0)
		return;
	make_event(rule_of(triggers, watch), watch, is_open, &event);
	if (event_detector_put(detector, &event) < 0)
		return; /* the detector counts it; the next second tries again */
}

/* Firing. */

/* Returns whether the rule may fire, and notes that it does. */
static bool take_turn(struct triggers *triggers, size_t rule)
{
	return turns_take(&triggers->firings[rule], triggers->last_s, TRIGGERS_APART_S,
			  triggers->opts.max_per_hour);
}

static void begin_boost(const struct triggers *triggers, struct trigger_watch *watch)
{
	const struct triggers_opts *opts = &triggers->opts;
	struct trigger_boost boost;

	if (opts->begin_boost && opts->begin_boost(&boost, opts->boost_data))
		watch->boost = boost;
}

static void notify(const struct triggers *triggers, const struct trigger_watch *watch)
{
	uint64_t around_s = triggers->opts.around_s;
	struct event event;
	const struct trigger_firing firing = {
		.rule = rule_of(triggers, watch),
		.event = &event,
		.value = watch->peak,
		.pin_first_s = watch->first_s > around_s ? watch->first_s - around_s : 0,
		/* The time is over when this is noticed, but a boost only begins. */
		.pin_end_s = max_u64(watch->fired_s + 1 + around_s, watch->boost.range.end_s),
		.boost = watch->boost,
	};

	make_event(firing.rule, watch, watch->spell.is_on, &event);
	if (triggers->opts.notify)
		triggers->opts.notify(&firing, triggers->opts.notify_data);
}

static bool may_have_contributor(const struct trigger_rule *rule)
{
	return rule->measure->is_cpu && !rule->measure->has_names;
}

/* Notifies of a firing, and notes who used the CPUs then. */
static void tell(const struct triggers *triggers, struct trigger_watch *watch,
		 struct event_detector *detector)
{
	/* Without memory, the event has no contributor. */
	if (may_have_contributor(rule_of(triggers, watch)) &&
	    text_copy(event_detector_contributor(detector), &watch->contributor) < 0)
		watch->contributor = NULL;
	watch->is_untold = false;
	update_event(triggers, watch, watch->spell.is_on, detector);
	notify(triggers, watch);
}

void triggers_tell(struct triggers *triggers, uint64_t second, struct event_detector *detector)
{
	for (size_t i = 0; i < triggers->nr_watches; i++) {
		struct trigger_watch *watch = &triggers->watches[i];

		if (watch->is_untold && watch->fired_s <= second)
			tell(triggers, watch, detector);
	}
}

/* Nobody waits for the samples of a second any more. */
static void end_watch(const struct triggers *triggers, struct trigger_watch *watch,
		      struct event_detector *detector)
{
	if (watch->is_untold)
		tell(triggers, watch, detector);
	watch_done(watch);
}

void triggers_finish(struct triggers *triggers, struct event_detector *detector)
{
	for (size_t i = 0; i < triggers->nr_watches; i++) {
		struct trigger_watch *watch = &triggers->watches[i];

		watch->spell.is_on = false;
		update_event(triggers, watch, false, detector);
		end_watch(triggers, watch, detector);
	}
	triggers->nr_watches = 0;
}

static void fire(struct triggers *triggers, struct trigger_watch *watch,
		 struct event_detector *detector)
{
	const struct trigger_rule *rule = rule_of(triggers, watch);
	struct event event;

	if (!take_turn(triggers, watch->rule)) {
		triggers->stats.nr_suppressed++;
		return;
	}
	make_event(rule, watch, true, &event);
	if (event_detector_put(detector, &event) < 0) {
		triggers->stats.nr_suppressed++;
		return;
	}
	watch->number = event.number;
	watch->fired_s = triggers->last_s;
	begin_boost(triggers, watch);
	watch->is_untold = triggers->opts.of_vitals && may_have_contributor(rule);
	if (watch->is_untold)
		update_event(triggers, watch, true, detector);
	else
		tell(triggers, watch, detector);
}

/* Watches. */

static void follow(struct triggers *triggers, struct trigger_watch *watch, double value,
		   struct event_detector *detector)
{
	double limit = rule_of(triggers, watch)->limit;
	bool is_first = trigger_spell_is_new(&watch->spell);
	unsigned int enter_s = rule_of(triggers, watch)->measure->enter_s;
	enum trigger_step step = trigger_spell_push(&watch->spell, value, limit,
						    enter_s ? enter_s : TRIGGER_SPELL_ENTER_S);

	if (value > limit) {
		watch->first_s = is_first ? triggers->last_s : watch->first_s;
		watch->end_s = triggers->last_s + 1;
		watch->peak = is_first ? value : fmax(watch->peak, value);
	}
	if (step == TRIGGER_STEP_ENTERS)
		fire(triggers, watch, detector);
	else if (step == TRIGGER_STEP_LASTS && value > limit)
		update_event(triggers, watch, true, detector);
	else if (step == TRIGGER_STEP_LEAVES)
		update_event(triggers, watch, false, detector);
}

static struct trigger_watch *find_watch(const struct triggers *triggers, size_t rule,
					const char *subject)
{
	for (size_t i = 0; i < triggers->nr_watches; i++)
		if (triggers->watches[i].rule == rule &&
		    strcmp(triggers->watches[i].subject, subject) == 0)
			return &triggers->watches[i];
	return NULL;
}

static struct trigger_watch *add_watch(struct triggers *triggers, size_t rule,
				       const struct trigger_value *value)
{
	struct trigger_watch watch = { .rule = rule };
	int r = array_grow(triggers->watches, triggers->cap_watches, triggers->nr_watches + 1,
			   MAX_WATCHES);

	if (r == 0)
		r = text_copy(value->subject, &watch.subject);
	if (r == 0)
		r = text_copy(value->selector, &watch.selector);
	if (r < 0) {
		watch_done(&watch);
		triggers->stats.nr_unwatched++;
		return NULL;
	}
	triggers->watches[triggers->nr_watches] = watch;
	return &triggers->watches[triggers->nr_watches++];
}

/* What the values of a rule are visited with. */
struct visit {
	struct triggers *triggers;
	size_t rule;
	struct event_detector *detector;
};

static void take_value(const struct trigger_value *value, void *data)
{
	const struct visit *visit = data;
	const struct trigger_rule *rule = &visit->triggers->opts.rules[visit->rule];
	struct trigger_watch *watch = find_watch(visit->triggers, visit->rule, value->subject);

	if (!watch && value->value > rule->limit && trigger_rule_matches(rule, value->subject))
		watch = add_watch(visit->triggers, visit->rule, value);
	if (!watch)
		return;
	watch->is_seen = true;
	follow(visit->triggers, watch, value->value, visit->detector);
}

/* A pod that is gone, or was silent, has the value 0. Idle watches are forgotten. */
static void end_second(struct triggers *triggers, struct event_detector *detector)
{
	size_t nr = triggers->nr_watches;

	triggers->nr_watches = 0;
	for (size_t i = 0; i < nr; i++) {
		struct trigger_watch *watch = &triggers->watches[i];

		if (!watch->is_seen)
			follow(triggers, watch, 0, detector);
		watch->is_seen = false;
		if (trigger_spell_is_idle(&watch->spell))
			end_watch(triggers, watch, detector);
		else
			triggers->watches[triggers->nr_watches++] = *watch;
	}
}

void triggers_add(struct triggers *triggers, const struct store_second *second,
		  struct event_detector *detector)
{
	if (triggers->opts.nr_rules == 0 || second->second == triggers->last_s)
		return;
	if (second->second < triggers->last_s || second->second > triggers->last_s + LEAP_S)
		triggers_finish(triggers, detector);
	triggers->last_s = second->second;
	for (size_t i = 0; i < triggers->opts.nr_rules; i++) {
		const struct trigger_measure *measure = triggers->opts.rules[i].measure;
		struct visit visit = { triggers, i, detector };

		if (trigger_measure_is_of_vitals(measure) == triggers->opts.of_vitals)
			trigger_values_visit(&triggers->values, measure, second, detector,
					     take_value, &visit);
	}
	trigger_values_end_second(&triggers->values, second);
	end_second(triggers, detector);
}

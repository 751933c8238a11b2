/* SPDX-License-Identifier: Apache-2.0 */
/* Applies the rules of --trigger to each second of the record. When a rule's value is above its
 * limit (store/trigger_spell.h), the rule fires: the record gets an event, which lasts as long as
 * the value stays there, and the time around it is to be pinned. A rule fires at most once in 30 s,
 * and at most so often in an hour; what it missed is counted.
 *
 * A second is complete only when its samples have their names, some seconds later. Nothing is lost
 * by that, as the record has the seconds before already. What the kernel counts is known when the
 * second ends, so its rules have a struct of their own:
 *
 *	vitals of a second ─▶ triggers_add() of these rules: event, pin and boost at once
 *	complete second ─▶ triggers_add() of the others; triggers_tell(): who used the CPUs */
#ifndef STORE_TRIGGERS_H
#define STORE_TRIGGERS_H

#include "base/err.h"
#include "store/event.h"
#include "store/event_detector.h"
#include "store/second.h"
#include "store/trigger_rule.h"
#include "store/time_range.h"
#include "store/trigger_values.h"
#include "store/turns.h"

#include <stddef.h>
#include <stdint.h>

#define TRIGGERS_APART_S 30

struct trigger_watch;

/* A time in which more samples are taken, because a rule fired. */
struct trigger_boost {
	struct time_range range; /* Unix time; all 0: there is none */
	uint32_t frequency_hz;
};

struct trigger_firing {
	const struct trigger_rule *rule;
	const struct event *event; /* with its number, subject, selector and text */
	double value; /* in the unit of the rule */
	uint64_t pin_first_s, pin_end_s; /* what is pinned */
	struct trigger_boost boost;
};

/* Is told of each firing. It must not wait. Everything is borrowed for the call. */
typedef void (*trigger_notify)(const struct trigger_firing *firing, void *data);

/* Has more samples taken from now on, and sets `*ret_boost`. Returns false if it does not. It must
 * not wait. */
typedef bool (*trigger_begin_boost)(struct trigger_boost *ret_boost, void *data);

struct triggers_opts {
	const struct trigger_rule *rules; /* borrowed */
	size_t nr_rules; /* at most TRIGGER_MAX_RULES */
	bool of_vitals; /* only those of what the kernel counts, else only the others */
	uint64_t around_s; /* is pinned before and after */
	uint32_t max_per_hour; /* firings of a rule; at most TURNS_MAX_PER_HOUR */
	trigger_notify notify; /* NULL: there is nobody to notify */
	void *notify_data;
	trigger_begin_boost begin_boost; /* is asked at each firing; NULL: nobody is */
	void *boost_data;
};

struct triggers_stats {
	uint64_t nr_suppressed; /* firings: too soon, too many, or without room */
	uint64_t nr_pinned, nr_not_pinned; /* firings */
	uint64_t nr_unwatched; /* pods and processes above a limit for which there was no room */
};

struct triggers {
	struct triggers_opts opts;
	struct trigger_watch *watches; /* owned; each of a rule and a subject */
	size_t nr_watches, cap_watches;
	uint64_t last_s;
	struct turns firings[TRIGGER_MAX_RULES]; /* of the rules, by their numbers */
	struct trigger_values values;
	struct triggers_stats stats;
};

void triggers_init(struct triggers *triggers, const struct triggers_opts *opts);
void triggers_done(struct triggers *triggers);

/* Applies the rules to a second, which was added to the detector just now. For rules of what the
 * kernel counts, it needs only its vitals. The detector gets the events. */
void triggers_add(struct triggers *triggers, const struct store_second *second,
		  struct event_detector *detector);

/* Call it when the detector has all samples of a second. Notifies of the rules that fired up to
 * then by what the kernel counts, and that had to wait for the name of who used the CPUs. */
void triggers_tell(struct triggers *triggers, uint64_t second, struct event_detector *detector);

/* Ends all events that go on. */
void triggers_finish(struct triggers *triggers, struct event_detector *detector);

#endif

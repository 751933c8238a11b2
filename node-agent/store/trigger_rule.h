/* SPDX-License-Identifier: Apache-2.0 */
/* A rule of --trigger, as people read it aloud: "pod-cpu of shop/web-* > 150%". It names what is
 * measured each second, perhaps whose, and a limit.
 *
 *	RULE = MEASURE [ "of" PATTERN ] ">" NUMBER [ UNIT ]
 *
 * The pattern is one of fnmatch(3), of the name of a pod ("shop/web-1"), a process ("postgres"), a
 * service or a CPU ("3"). */
#ifndef STORE_TRIGGER_RULE_H
#define STORE_TRIGGER_RULE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/event.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>

#define TRIGGER_RULE_BYTES 512
#define TRIGGER_PATTERN_BYTES 336
#define TRIGGER_MAX_RULES 16

/* Where the values of a measure come from. */
enum trigger_source {
	TRIGGER_SUBJECTS, /* signals of the event detector: of the node, of pods, of processes */
	TRIGGER_NODE_SHARE, /* CPU time of the node, as a share of all CPUs */
	TRIGGER_SURGE, /* signals of the event detector, compared with what is usual */
	TRIGGER_CPU, /* samples of each CPU */
	TRIGGER_VITAL, /* what the kernel counted */
	TRIGGER_MEMORY_GROWTH, /* how much less memory is available than a second before */
};

enum trigger_unit {
	TRIGGER_PERCENT, /* the value is a part of 1 */
	TRIGGER_COUNT,
	TRIGGER_TIMES, /* of what is usual */
	TRIGGER_BYTES, /* per second */
	TRIGGER_TIME, /* seconds */
};

struct trigger_measure {
	const char *name;
	enum trigger_source source;
	enum event_kind kind; /* of the detector's signals */
	enum vital vital; /* of TRIGGER_VITAL */
	enum trigger_unit unit;
	bool has_names; /* there are several, and "of" chooses among them */
	unsigned int
		enter_s; /* seconds of three that must be above the limit; 0: the usual number */
	bool is_cpu; /* whoever uses more CPU time than usual may be the cause */
};

struct trigger_rule {
	const struct trigger_measure *measure; /* static */
	char pattern[TRIGGER_PATTERN_BYTES]; /* "": all */
	double limit; /* in the measure's unit */
	char text[TRIGGER_RULE_BYTES]; /* the rule in the usual way of writing */
};

/* Returns whether the kernel counts what is measured, so that no samples are needed. */
static inline bool trigger_measure_is_of_vitals(const struct trigger_measure *measure)
{
	return measure->source == TRIGGER_NODE_SHARE || measure->source == TRIGGER_VITAL ||
	       measure->source == TRIGGER_MEMORY_GROWTH;
}

/* Parses a rule. On failure `reterr_msg` says what is wrong, and what to write. Errors: -EINVAL. */
int trigger_rule_parse(const char *text, struct strbuf *reterr_msg, struct trigger_rule *ret_rule)
	must_check;

/* Returns whether the rule is about a subject of an event, such as "pod shop/web-1". */
bool trigger_rule_matches(const struct trigger_rule *rule, const char *subject);

/* Appends a value of the measure with its unit: "182%", "3.2 times the usual". */
void trigger_rule_append_value(const struct trigger_rule *rule, double value, struct strbuf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_rule.h"

#include "base/clock.h"
#include "base/parse.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " "
#define MAX_NUMBER_BYTES 20
#define SIMILAR 3 /* edits between a wrong word and the one that was meant */

#define SUBJECTS(name_, kind_, unit_, ...)                                                         \
	{                                                                                          \
		.name = (name_), .source = TRIGGER_SUBJECTS, .kind = (kind_), .unit = (unit_),     \
		__VA_ARGS__                                                                        \
	}
#define SURGE(name_, kind_, ...)                                                                   \
	{                                                                                          \
		.name = (name_), .source = TRIGGER_SURGE, .kind = (kind_), .unit = TRIGGER_TIMES,  \
		.is_cpu = true, __VA_ARGS__                                                        \
	}
#define VITAL(name_, vital_, unit_, ...)                                                           \
	{                                                                                          \
		.name = (name_), .source = TRIGGER_VITAL, .vital = (vital_), .unit = (unit_),      \
		__VA_ARGS__                                                                        \
	}

static const struct trigger_measure measures[] = {
	{ .name = "node-cpu",
	  .source = TRIGGER_NODE_SHARE,
	  .unit = TRIGGER_PERCENT,
	  .is_cpu = true },
	SURGE("node-cpu-surge", EVENT_NODE_CPU),
	{ .name = "cpu",
	  .source = TRIGGER_CPU,
	  .unit = TRIGGER_PERCENT,
	  .has_names = true,
	  .is_cpu = true },
	SUBJECTS("pod-cpu", EVENT_POD_CPU, TRIGGER_PERCENT, .has_names = true),
	SURGE("pod-cpu-surge", EVENT_POD_CPU, .has_names = true),
	SUBJECTS("process-cpu", EVENT_PROCESS_CPU, TRIGGER_PERCENT, .has_names = true),
	SURGE("process-cpu-surge", EVENT_PROCESS_CPU, .has_names = true),
	SUBJECTS("throttling", EVENT_THROTTLING, TRIGGER_PERCENT, .has_names = true),
	VITAL("run-queue", VITAL_RUN_DELAY, TRIGGER_COUNT, .is_cpu = true),
	VITAL("psi-cpu", VITAL_PSI_CPU, TRIGGER_PERCENT, .is_cpu = true),
	VITAL("psi-memory", VITAL_PSI_MEMORY, TRIGGER_PERCENT),
	VITAL("psi-io", VITAL_PSI_IO, TRIGGER_PERCENT),
	{ .name = "memory-growth", .source = TRIGGER_MEMORY_GROWTH, .unit = TRIGGER_BYTES },
	/* One is enough. */
	VITAL("oom-kills", VITAL_OOM_KILLS, TRIGGER_COUNT, .enter_s = 1),
	VITAL("tick-delay", VITAL_TICK_DELAY, TRIGGER_TIME, .enter_s = 1, .is_cpu = true),
	VITAL("irq", VITAL_IRQ, TRIGGER_PERCENT),
	VITAL("softirq", VITAL_SOFTIRQ, TRIGGER_PERCENT),
	VITAL("steal", VITAL_STEAL, TRIGGER_PERCENT),
	VITAL("forks", VITAL_FORKS, TRIGGER_COUNT, .is_cpu = true),
	SUBJECTS("lost-samples", EVENT_LOST, TRIGGER_COUNT),
};

/* What to write behind ">". */
static const char *const examples[] = {
	[TRIGGER_PERCENT] = "a number and %, such as 80%",
	[TRIGGER_COUNT] = "a number, such as 10",
	[TRIGGER_TIMES] = "a number of times the usual, such as 3",
	[TRIGGER_BYTES] = "bytes per second, such as 200M",
	[TRIGGER_TIME] = "a time, such as 200ms",
};

/* A part of the text. */
struct word {
	const char *text;
	size_t len;
};

static bool word_is(struct word word, const char *text)
{
	return word.len == strlen(text) && strncmp(word.text, text, word.len) == 0;
}

/* Takes what is before one of `ends` or the end of the text. */
static struct word take_word(const char **cursor, const char *ends)
{
	const char *first = *cursor + strspn(*cursor, BLANKS);
	struct word word = { first, strcspn(first, ends) };

	*cursor = first + word.len;
	*cursor += strspn(*cursor, BLANKS);
	return word;
}

static void list_measures(struct strbuf *out)
{
	for (size_t i = 0; i < array_len(measures); i++)
		strbuf_appendf(out, "%s%s", i > 0 ? ", " : "", measures[i].name);
}

static int refuse_measure(struct word word, struct strbuf *message)
{
	char name[32];

	if (word.len == 0) {
		strbuf_append_str(message, "it does not say what to measure; one of: ");
		list_measures(message);
		return -EINVAL;
	}
	snprintf(name, sizeof(name), "%.*s", (int)word.len, word.text);
	strbuf_appendf(message, "\"%s\" cannot be measured; ", name);
	for (size_t i = 0; i < array_len(measures); i++) {
		if (word_distance(name, measures[i].name) >= SIMILAR)
			continue;
		strbuf_appendf(message, "did you mean %s?", measures[i].name);
		return -EINVAL;
	}
	strbuf_append_str(message, "known are: ");
	list_measures(message);
	return -EINVAL;
}

static int parse_measure(const char **cursor, struct strbuf *message,
			 const struct trigger_measure **ret_measure)
{
	struct word word = take_word(cursor, BLANKS ">");

	for (size_t i = 0; i < array_len(measures); i++) {
		if (word_is(word, measures[i].name)) {
			*ret_measure = &measures[i];
			return 0;
		}
	}
	return refuse_measure(word, message);
}

static int parse_pattern(const char **cursor, struct strbuf *message, struct trigger_rule *rule)
{
	struct word word;

	if (**cursor == '>')
		return 0;
	word = take_word(cursor, BLANKS ">");
	if (!word_is(word, "of")) {
		strbuf_appendf(message,
			       "behind %s, \">\" and a limit must follow, such as \"%s > %s\"",
			       rule->measure->name, rule->measure->name,
			       strrchr(examples[rule->measure->unit], ' ') + 1);
		return -EINVAL;
	}
	word = take_word(cursor, BLANKS ">");
	if (!rule->measure->has_names) {
		strbuf_appendf(message, "%s is of the whole node: leave out \"of %.*s\"",
			       rule->measure->name, (int)word.len, word.text);
		return -EINVAL;
	}
	if (word.len == 0 || word.len >= sizeof(rule->pattern)) {
		strbuf_append_str(message,
				  word.len == 0 ? "behind \"of\", a name or pattern must follow, "
						  "such as shop/web-*"
						: "the name behind \"of\" is too long");
		return -EINVAL;
	}
	snprintf(rule->pattern, sizeof(rule->pattern), "%.*s", (int)word.len, word.text);
	return 0;
}

/* Reads digits, perhaps with a point between them. */
static int parse_number(const char *text, size_t len, double *ret_number)
{
	char copy[MAX_NUMBER_BYTES];
	size_t nr_whole = strspn(text, "0123456789");
	size_t nr_more = text[nr_whole] == '.' ? strspn(text + nr_whole + 1, "0123456789") : 0;
	size_t nr = nr_whole + (nr_more > 0 ? nr_more + 1 : 0);

	if (nr_whole == 0 || nr != len || len >= sizeof(copy))
		return -EINVAL;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
	*ret_number = strtod(copy, NULL);
	return 0;
}

static int parse_amount(const char *text, enum trigger_unit unit, double *ret_limit)
{
	uint64_t bytes, time_ns;
	size_t len = strlen(text);
	int r;

	switch (unit) {
	case TRIGGER_BYTES:
		r = parse_bytes(text, &bytes);
		if (r == 0)
			*ret_limit = (double)bytes;
		return r;
	case TRIGGER_TIME:
		r = parse_duration_ns(text, &time_ns);
		if (r == 0)
			*ret_limit = (double)time_ns / (double)NSEC_PER_SEC;
		return r;
	case TRIGGER_PERCENT:
		if (len == 0 || text[len - 1] != '%')
			return -EINVAL;
		r = parse_number(text, len - 1, ret_limit);
		if (r == 0)
			*ret_limit /= 100;
		return r;
	case TRIGGER_COUNT:
	case TRIGGER_TIMES:
		break;
	}
	return parse_number(text, len, ret_limit);
}

static int parse_limit(const char **cursor, struct strbuf *message, struct trigger_rule *rule,
		       struct word *ret_word)
{
	char amount[TRIGGER_RULE_BYTES];
	enum trigger_unit unit = rule->measure->unit;

	if (**cursor != '>') {
		strbuf_appendf(message, "\">\" must follow, and %s", examples[unit]);
		return -EINVAL;
	}
	(*cursor)++;
	struct word word = take_word(cursor, "");
	while (word.len > 0 && strchr(BLANKS, word.text[word.len - 1]))
		word.len--;
	snprintf(amount, sizeof(amount), "%.*s", (int)word.len, word.text);
	if (parse_amount(amount, unit, &rule->limit) < 0) {
		strbuf_appendf(message, "\"%s\" is no limit of %s: write %s", amount,
			       rule->measure->name, examples[unit]);
		return -EINVAL;
	}
	if (unit == TRIGGER_TIMES && rule->limit < 1) {
		strbuf_appendf(message, "%s is a number of times the usual: write 1 or more",
			       rule->measure->name);
		return -EINVAL;
	}
	*ret_word = word;
	return 0;
}

static int check_text(const char *text, struct strbuf *message)
{
	if (strlen(text) >= TRIGGER_RULE_BYTES / 2) {
		strbuf_appendf(message, "it is longer than %d bytes", TRIGGER_RULE_BYTES / 2 - 1);
		return -EINVAL;
	}
	for (const char *c = text; *c; c++) {
		if (*c >= ' ' && *c <= '~')
			continue;
		strbuf_append_str(message, "only printable ASCII characters are allowed");
		return -EINVAL;
	}
	return 0;
}

int trigger_rule_parse(const char *text, struct strbuf *reterr_msg, struct trigger_rule *ret_rule)
{
	struct trigger_rule rule = { 0 };
	struct word limit;
	const char *cursor = text;

	int r = check_text(text, reterr_msg);
	if (r < 0)
		return r;
	r = parse_measure(&cursor, reterr_msg, &rule.measure);
	if (r < 0)
		return r;
	r = parse_pattern(&cursor, reterr_msg, &rule);
	if (r < 0)
		return r;
	r = parse_limit(&cursor, reterr_msg, &rule, &limit);
	if (r < 0)
		return r;
	snprintf(rule.text, sizeof(rule.text), "%s%s%s > %.*s", rule.measure->name,
		 rule.pattern[0] ? " of " : "", rule.pattern, (int)limit.len, limit.text);
	*ret_rule = rule;
	return 0;
}

bool trigger_rule_matches(const struct trigger_rule *rule, const char *subject)
{
	const char *blank = strchr(subject, ' ');

	if (rule->pattern[0] == '\0')
		return true;
	return fnmatch(rule->pattern, blank ? blank + 1 : subject, 0) == 0;
}

void trigger_rule_append_value(const struct trigger_rule *rule, double value, struct strbuf *out)
{
	switch (rule->measure->unit) {
	case TRIGGER_PERCENT:
		strbuf_appendf(out, "%.0f%%", 100 * value);
		break;
	case TRIGGER_COUNT:
		strbuf_appendf(out, value < 100 ? "%.3g" : "%.0f", value);
		break;
	case TRIGGER_TIME:
		strbuf_appendf(out, "%.0f ms", 1e3 * value);
		break;
	case TRIGGER_TIMES:
		strbuf_appendf(out, "%.1f times the usual", value);
		break;
	case TRIGGER_BYTES:
		strbuf_appendf(out, "%.1f MB per second", value / 1e6);
		break;
	}
}

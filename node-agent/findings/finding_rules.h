/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of known causes: which functions show a cause, how much CPU time makes it worth a
 * finding, and what to look at next; and the same for waits.
 *
 * A rule is a row of finding_rules[] or wait_rules[]. To add one, add a row, a section of
 * docs/findings.md with the rule's id as its heading, and a row in test_findings.c or
 * test_wait_findings.c of tests/unit/node-agent/findings.
 *
 * Lists of functions are words in one string. A word is the whole name of a function, or its
 * beginning if the word ends with "*". Suffixes that compilers append (".isra.0", ".constprop.0",
 * ".part.0", ".cold") are not part of a name. */
#ifndef FINDINGS_FINDING_RULES_H
#define FINDINGS_FINDING_RULES_H

#include "profile/profile_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rule compares the samples that match with all samples of the same scope. */
enum finding_scope {
	SCOPE_NODE, /* all samples */
	SCOPE_CGROUP,
	SCOPE_PROGRAM, /* processes of one name in one pod or service */
	SCOPE_PROCESS,
	SCOPE_CPU,
	NR_FINDING_SCOPES,
};

/* Rules of a family look at the same samples. A sample that led to a finding does not count for the
 * family's later rules, so specific rules come first. */
enum finding_family {
	FAMILY_NONE,
	FAMILY_LOCK,
	FAMILY_MEMORY,
	FAMILY_IPI,
	FAMILY_CLOCK,
	FAMILY_PROC,
	FAMILY_DISK,
	NR_FINDING_FAMILIES,
};

enum finding_code { CODE_KERNEL, CODE_USER, CODE_ANY, NR_FINDING_CODES };

#define FINDING_STEPS_MAX 2

/* The least that makes a finding. */
struct finding_least {
	double percent; /* of the samples in the scope; of waits: of the blocked time in it */
	double cpus; /* average number of CPUs that are busy with it; of waits: of threads */
};

/* Texts are static. Lists of functions may be NULL, which means that the rule lacks the
 * condition. */
struct finding_rule {
	const char *id; /* stable; also the heading in docs/findings.md */
	/* The subject of "… takes 12.0 % of the CPU time". " in {caller}" at its end stands for the
	 * most frequent caller */
	const char *title;

	/* Which samples match: one of `frames` is in the stack, outside of interrupted code. Of
	 * waits: those for one of these reasons (1 << enum wait_reason), and for futexes only where
	 * a lock is taken. All of these match if there are no `frames`. */
	uint32_t reasons;
	/* It is about waits for a CPU, and compares these with the time in which threads could run.
	 * A program only matches if it waits much more than others (delay_units.h). */
	bool of_delay;
	enum finding_code code; /* of the functions in the lists */
	const char *frames;
	const char *callers; /* the first caller outside `skip` is one of these */
	const char *below; /* one of these is a caller, direct or not */
	const char *without; /* none of these is in the stack */
	const char *threads; /* threads of these names match, whatever they run; with commas
				between the names */

	/* What is counted, and how much of it makes a finding. */
	enum finding_scope scope;
	enum finding_family family;
	struct finding_least least;
	unsigned int min_processes; /* different processes in samples that match */
	double min_concentration; /* percent of all samples that match, in one scope */

	/* What the finding shows. */
	const char *skip; /* functions that are not shown as the caller */
	enum finding_code caller_code; /* which frames can be the caller */
	const char *starters; /* processes that run these functions are its cause */
	const char *steps[FINDING_STEPS_MAX]; /* what to look at next; the unused ones are NULL */
};

/* At least this many samples must match, whatever the thresholds are. */
#define FINDING_SAMPLES_MIN 10

/* The order is that in which families are served. */
extern const struct finding_rule finding_rules[], wait_rules[];
extern const size_t nr_finding_rules, nr_wait_rules;

struct finding_table {
	const struct finding_rule *rules;
	size_t nr;
};

/* Returns the rules for profiles of a type; none for types other than CPU time and waits. */
struct finding_table finding_table_of(enum profile_type type);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* First, each stack is compared with all rules. Then each rule sums up the samples with stacks that
 * match, by the units of its scope, and compares the sums with its thresholds. A unit that exceeds
 * them "fires". Evidence is collected from the samples of those units only. */
#include "findings/findings.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/strview.h"
#include "findings/delay_units.h"
#include "findings/evidence.h"
#include "findings/stack_matcher.h"
#include "findings/units.h"
#include "profile/wait_split.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX_BYTES ((size_t)1 << 20)
#define TITLE_MAX_BYTES 4096
#define CALLER_SUFFIX " in {caller}"

struct finder {
	const struct profile *profile; /* borrowed */
	const struct profile *cpu; /* of waits: the CPU time; NULL: not known; borrowed */
	struct findings *findings; /* borrowed */
	struct stack_matcher matcher;
	uint64_t *stack_rules; /* by stack: rules that match, as bits; owned */
	struct units units[NR_FINDING_SCOPES]; /* made when they are first needed */
	struct delay_units delay; /* if it is known */
	uint8_t *classes; /* of waits, by sample: enum wait_class; owned */
	uint64_t claimed[NR_FINDING_FAMILIES]; /* rules that have found something, as bits */
	double cpus_per_sample; /* 0: not known */
};

/* Sums of a rule, by the units of its scope. */
struct sums {
	size_t rule;
	const struct units *units; /* borrowed */
	bool *is_hit; /* by sample; owned */
	uint64_t *counts; /* by unit; owned */
	uint64_t count, total; /* of the units that count */
	size_t best; /* the unit with the largest count */
};

static void finder_done(struct finder *finder)
{
	stack_matcher_done(&finder->matcher);
	free(finder->stack_rules);
	free(finder->classes);
	delay_units_done(&finder->delay);
	for (size_t i = 0; i < NR_FINDING_SCOPES; i++)
		units_done(&finder->units[i]);
}

static void sums_done(struct sums *sums)
{
	free(sums->is_hit);
	free(sums->counts);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static const struct finding_rule *rule_of(const struct finder *finder, size_t rule)
{
	return &finder->matcher.table.rules[rule];
}

/* Returns whether a wait does not count as blocked time: that for a CPU, and that of a thread that
 * has nothing to do, or of which that is not known. */
static bool is_left_out(const struct finder *finder, size_t sample)
{
	return finder->classes && finder->classes[sample] >= WAIT_NR_BLOCKED;
}

static int make_units(struct finder *finder, enum finding_scope scope, struct units *units)
{
	const struct profile *profile = finder->profile;

	int r = units_init(units, scope, profile);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++)
		if (is_left_out(finder, i))
			units->units[units->of_sample[i]].total -= profile->samples[i].count;
	return r;
}

static int get_units(struct finder *finder, enum finding_scope scope,
		     const struct units **ret_units)
{
	struct units *units = &finder->units[scope];
	int r = units->of_sample ? 0 : make_units(finder, scope, units);

	if (r < 0)
		return r;
	*ret_units = units;
	return 0;
}

static bool sample_matches(const struct finder *finder, size_t rule, size_t number)
{
	const struct profile_sample *sample = &finder->profile->samples[number];
	uint64_t rules = finder->stack_rules[sample->stack];

	if (rules & finder->claimed[rule_of(finder, rule)->family])
		return false;
	if (finder->classes)
		return (rules >> rule & 1) &&
		       (rule_of(finder, rule)->of_delay || !is_left_out(finder, number)) &&
		       (rule_of(finder, rule)->reasons >> sample->reason & 1);
	return (rules >> rule & 1) ||
	       stack_matcher_has_thread(&finder->matcher, rule, sample->thread_comm);
}

static int sum_up(struct finder *finder, size_t rule, struct sums *sums)
{
	const struct profile *profile = finder->profile;

	int r = 0;

	if (rule_of(finder, rule)->of_delay)
		sums->units = &finder->delay.units;
	else
		r = get_units(finder, rule_of(finder, rule)->scope, &sums->units);
	if (r < 0)
		return r;
	sums->rule = rule;
	sums->is_hit = calloc(profile->nr_samples + 1, sizeof(*sums->is_hit));
	sums->counts = calloc(sums->units->nr + 1, sizeof(*sums->counts));
	if (!sums->is_hit || !sums->counts)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nr_samples; i++) {
		if (!sample_matches(finder, rule, i))
			continue;
		sums->is_hit[i] = true;
		sums->counts[sums->units->of_sample[i]] += profile->samples[i].count;
		sums->count += profile->samples[i].count;
	}
	return 0;
}

static bool exceeds(const struct finder *finder, const struct sums *sums, size_t unit)
{
	const struct finding_rule *rule = rule_of(finder, sums->rule);
	uint64_t count = sums->counts[unit];

	if (rule->of_delay && !delay_units_stands_out(&finder->delay, unit, count))
		return false;
	if (count < FINDING_SAMPLES_MIN ||
	    percent(count, sums->units->units[unit].total) < rule->least.percent)
		return false;
	if (finder->cpus_per_sample > 0 &&
	    (double)count * finder->cpus_per_sample < rule->least.cpus)
		return false;
	return rule->min_concentration == 0 ||
	       (sums->units->nr > 1 && percent(count, sums->count) >= rule->min_concentration);
}

/* Removes the units below the rule's thresholds, and the samples in them. Returns whether any is
 * left. */
static bool keep_exceeding(const struct finder *finder, struct sums *sums)
{
	const struct units *units = sums->units;
	uint64_t count = 0, best_count = 0;

	for (size_t i = 0; i < units->nr; i++) {
		if (!exceeds(finder, sums, i)) {
			sums->counts[i] = 0;
			continue;
		}
		count += sums->counts[i];
		sums->total += units->units[i].total;
		if (sums->counts[i] > best_count) {
			best_count = sums->counts[i];
			sums->best = i;
		}
	}
	sums->count = count;
	for (size_t i = 0; i < finder->profile->nr_samples; i++)
		if (sums->counts[units->of_sample[i]] == 0)
			sums->is_hit[i] = false;
	return count > 0;
}

/* Returns whether the samples come from as many processes as the rule demands, or an error. */
static int has_processes(struct finder *finder, const struct sums *sums)
{
	unsigned int nr = 0, nr_wanted = rule_of(finder, sums->rule)->min_processes;
	_cleanup_free_ bool *is_counted = NULL;
	const struct units *processes = NULL;

	if (nr_wanted == 0)
		return true;
	int r = get_units(finder, SCOPE_PROCESS, &processes);
	if (r < 0)
		return r;
	is_counted = calloc(processes->nr + 1, sizeof(*is_counted));
	if (!is_counted)
		return -ENOMEM;
	for (size_t i = 0; i < finder->profile->nr_samples; i++) {
		bool *is_known = &is_counted[processes->of_sample[i]];

		nr += sums->is_hit[i] && !*is_known;
		*is_known = *is_known || sums->is_hit[i];
	}
	return nr >= nr_wanted;
}

/* Appends the rule's title, with the most frequent caller if the rule names it. */
static void append_subject(const struct finding *finding, struct strbuf *out)
{
	struct strview title = strview_of(finding->rule->title, SIZE_MAX);
	struct strview subject = strview_without_suffix(title, CALLER_SUFFIX);

	strbuf_append(out, subject.text, subject.len);
	if (subject.len < title.len && finding->callers.nr > 0)
		strbuf_appendf(out, " in %s", finding->callers.items[0].name);
}

static size_t count_units(const struct sums *sums)
{
	size_t nr = 0;

	for (size_t i = 0; i < sums->units->nr; i++)
		nr += sums->counts[i] > 0;
	return nr;
}

/* Appends whose time it is: that of all samples, or of the unit with the largest sum. */
static void append_whose(const struct finder *finder, const struct sums *sums, struct strbuf *out)
{
	size_t nr_units = count_units(sums);

	if (rule_of(finder, sums->rule)->of_delay)
		strbuf_append_str(out, "of the runnable time");
	else
		strbuf_append_str(out, finder->classes ? "of the blocked time" : "of the CPU time");
	if (sums->units->scope == SCOPE_NODE)
		return;
	strbuf_append_str(out, " of ");
	units_append_name(sums->units, sums->best, finder->profile, out);
	if (nr_units > 1)
		strbuf_appendf(out, " and of %zu more", nr_units - 1);
}

static int make_title(const struct finder *finder, const struct sums *sums, struct finding *finding)
{
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(TITLE_MAX_BYTES);
	struct arena *names = &finder->findings->names;

	append_subject(finding, &title);
	strbuf_appendf(&title, " takes %.1f %% ", percent(sums->count, sums->total));
	append_whose(finder, sums, &title);
	if (strbuf_error(&title) < 0)
		return strbuf_error(&title);
	if (title.data[0] >= 'a' && title.data[0] <= 'z')
		title.data[0] = (char)(title.data[0] - 'a' + 'A');
	finding->title = arena_strndup(names, title.data, title.len);
	return finding->title ? 0 : arena_error(names);
}

static int add_finding(struct finder *finder, const struct sums *sums)
{
	struct findings *findings = finder->findings;
	struct finding *finding = &findings->items[findings->nr];
	struct evidence_input input = {
		.profile = finder->profile,
		.matcher = &finder->matcher,
		.is_hit = sums->is_hit,
		.rule = sums->rule,
	};

	int r = get_units(finder, SCOPE_PROGRAM, &input.programs);
	if (r < 0)
		return r;
	*finding = (struct finding){
		.rule = rule_of(finder, sums->rule),
		.count = sums->count,
		.of = sums->total,
		.cpus = (double)sums->count * finder->cpus_per_sample,
	};
	r = evidence_collect(&input, &findings->names, finding);
	if (r == 0)
		r = make_title(finder, sums, finding);
	if (r == 0)
		findings->nr++;
	return r;
}

static int try_rule(struct finder *finder, size_t rule)
{
	_cleanup_(sums_done) struct sums sums = { 0 };

	if (rule_of(finder, rule)->of_delay && !finder->cpu)
		return 0;
	int r = sum_up(finder, rule, &sums);
	if (r < 0 || !keep_exceeding(finder, &sums))
		return r;
	r = has_processes(finder, &sums);
	if (r <= 0)
		return r;
	r = add_finding(finder, &sums);
	if (r == 0 && rule_of(finder, rule)->family != FAMILY_NONE)
		finder->claimed[rule_of(finder, rule)->family] |= UINT64_C(1) << rule;
	return r;
}

/* Compares all stacks. Returns the rules that match at least one of them. */
static uint64_t match_stacks(struct finder *finder)
{
	uint64_t rules = 0;

	for (uint32_t i = 0; i < finder->profile->nr_stacks; i++) {
		finder->stack_rules[i] = stack_matcher_rules(&finder->matcher, i);
		rules |= finder->stack_rules[i];
	}
	return rules;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = ((const struct finding *)left)->count;
	uint64_t b = ((const struct finding *)right)->count;

	return (a < b) - (a > b);
}

/* Finds out which waits are those of idle threads. */
static int classify_waits(struct finder *finder)
{
	const struct profile *profile = finder->profile;
	_cleanup_(wait_split_done) struct wait_split split = { 0 };

	finder->classes = calloc(profile->nr_samples + 1, sizeof(*finder->classes));
	if (!finder->classes)
		return -ENOMEM;
	int r = wait_split_init(&split, profile);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		finder->classes[i] = (uint8_t)wait_split_class(&split, &profile->samples[i]);
		finder->findings->total += is_left_out(finder, i) ? 0 : profile->samples[i].count;
	}
	return r;
}

/* Returns how many CPUs a sample keeps busy, or how many threads a nanosecond stands for. */
static double per_sample(const struct profile *profile)
{
	double period = profile->type == PROFILE_CPU ? (double)profile->period : 1;

	return profile->duration_ns > 0 ? period / (double)profile->duration_ns : 0;
}

static int find_all(struct finder *finder)
{
	const struct profile *profile = finder->profile;
	struct findings *findings = finder->findings;

	int r = stack_matcher_init(&finder->matcher, profile);
	if (r < 0)
		return r;
	finder->stack_rules = calloc(profile->nr_stacks + 1, sizeof(*finder->stack_rules));
	findings->items = calloc(FINDING_RULES_MAX, sizeof(*findings->items));
	if (!finder->stack_rules || !findings->items)
		return -ENOMEM;
	finder->cpus_per_sample = per_sample(profile);
	if (profile->type == PROFILE_OFF_CPU)
		r = classify_waits(finder);
	if (r == 0 && finder->cpu)
		r = delay_units_init(&finder->delay, profile, finder->cpu);
	uint64_t rules = match_stacks(finder);
	for (size_t i = 0; r == 0 && i < finder->matcher.table.nr; i++)
		if ((rules >> i & 1) || rule_of(finder, i)->threads)
			r = try_rule(finder, i);
	qsort(findings->items, findings->nr, sizeof(*findings->items), compare);
	return r;
}

static int find(struct findings *findings, const struct profile *profile, const struct profile *cpu)
{
	_cleanup_(finder_done) struct finder finder = { .profile = profile,
							.cpu = cpu,
							.findings = findings };

	*findings = (struct findings){
		.profile = profile,
		.total = profile->type == PROFILE_CPU ? profile_total(profile) : 0,
		.names.max_bytes = NAMES_MAX_BYTES,
	};
	int r = find_all(&finder);
	if (r < 0)
		findings_done(findings);
	return r;
}

int findings_init(struct findings *findings, const struct profile *profile)
{
	return find(findings, profile, NULL);
}

int findings_init_waits(struct findings *findings, const struct profile *waits,
			const struct profile *cpu)
{
	return find(findings, waits, cpu);
}

void findings_done(struct findings *findings)
{
	free(findings->items);
	arena_done(&findings->names);
	*findings = (struct findings){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pprof_plan.h"

#include "base/cleanup.h"
#include "base/minmax.h"

#include <fnmatch.h>
#include <string.h>

/* Meanings of sample types, in addition to those of profile_type.h: */
enum {
	ROLE_SAMPLES = PROFILE_NR_TYPES, /* samples of CPU time, if other data confirms it */
	ROLE_CPU_TIME,
	ROLE_OTHER,
};

/* Types with other names than in profile_type.h. perf_to_profile makes two types of each event. The
 * duration of cycles is unknown. */
static const struct {
	const char *pattern; /* of "type/unit" */
	unsigned int role;
} roles[] = {
	{ "samples/count", ROLE_SAMPLES },
	{ "sample/count", ROLE_SAMPLES },
	{ "cpu/nanoseconds", ROLE_CPU_TIME },
	{ "cpu-clock*_sample/count", PROFILE_CPU },
	{ "cpu-clock*_event/count", ROLE_CPU_TIME },
	{ "task-clock*_sample/count", PROFILE_CPU },
	{ "task-clock*_event/count", ROLE_CPU_TIME },
	{ "cpu-cycles*_sample/count", PROFILE_CPU },
	{ "cycles*_sample/count", PROFILE_CPU },
};

/* The first column of each role. */
struct columns {
	bool is_there[ROLE_OTHER];
	size_t of[ROLE_OTHER];
};

/* Names of a value type. */
struct names {
	struct strbuf type;
	struct strbuf unit;
	struct strbuf both; /* "type/unit" */
};

static void names_done(struct names *names)
{
	strbuf_done(&names->type);
	strbuf_done(&names->unit);
	strbuf_done(&names->both);
}

static int get_names(const struct pprof_message *message, const struct pprof_value_type *type,
		     struct names *names)
{
	int r;

	if ((r = pprof_get_string(message, type->type, &names->type)) < 0 ||
	    (r = pprof_get_string(message, type->unit, &names->unit)) < 0)
		return r;
	strbuf_clear(&names->both);
	strbuf_append_str(&names->both, strbuf_str(&names->type));
	strbuf_append_char(&names->both, '/');
	strbuf_append_str(&names->both, strbuf_str(&names->unit));
	return strbuf_error(&names->both);
}

static unsigned int role_of(const struct names *names)
{
	for (size_t i = 0; i < array_len(roles); i++)
		if (fnmatch(roles[i].pattern, strbuf_str(&names->both), 0) == 0)
			return roles[i].role;

	enum profile_type type = profile_type_find(strbuf_str(&names->type),
						   strbuf_str(&names->unit));
	return type == PROFILE_NR_TYPES ? ROLE_OTHER : type;
}

static int find_columns(const struct pprof_message *message, struct names *names,
			struct columns *columns)
{
	for (size_t i = 0; i < message->nr_types; i++) {
		int r = get_names(message, &message->types[i], names);
		if (r < 0)
			return r;
		unsigned int role = role_of(names);
		if (role == ROLE_OTHER || columns->is_there[role])
			continue;
		columns->is_there[role] = true;
		columns->of[role] = i;
	}
	return 0;
}

/* Treats samples as CPU samples if there is CPU time, if the period is CPU time, or if nothing
 * contradicts it. */
static void claim_samples(const struct pprof_message *message, const struct names *period_type,
			  struct columns *columns)
{
	const char *type = strbuf_str(&period_type->type);
	bool is_cpu = columns->is_there[ROLE_CPU_TIME] || strcmp(type, "cpu") == 0 ||
		      (!*type && message->nr_types == 1);

	if (!columns->is_there[ROLE_SAMPLES] || columns->is_there[PROFILE_CPU] || !is_cpu)
		return;
	columns->is_there[PROFILE_CPU] = true;
	columns->of[PROFILE_CPU] = columns->of[ROLE_SAMPLES];
}

static bool is_unit(const struct names *period_type, const char *unit)
{
	return strcmp(strbuf_str(&period_type->unit), unit) == 0;
}

/* Computes the mean CPU time of a sample. */
static int get_mean(const struct pprof_message *message, const struct columns *columns,
		    struct pprof_sample *sample, uint64_t *ret_mean)
{
	const struct pprof_plan counted = { .column = columns->of[PROFILE_CPU], .unit = 1 };
	const struct pprof_plan timed = { .column = columns->of[ROLE_CPU_TIME], .unit = 1 };
	uint64_t nr_samples = 0, time_ns = 0;

	for (size_t i = 0; i < message->samples.nr; i++) {
		int r = pprof_get_sample(message, i, sample);
		if (r < 0)
			return r;
		nr_samples += pprof_count(&counted, sample);
		time_ns += pprof_count(&timed, sample);
	}
	nr_samples = max_u64(1, nr_samples);
	*ret_mean = max_u64(1, time_ns / nr_samples + (time_ns % nr_samples > nr_samples / 2));
	return 0;
}

static int plan_cpu(const struct pprof_message *message, const struct names *period_type,
		    const struct columns *columns, struct pprof_sample *sample,
		    struct pprof_plan *plan)
{
	bool has_period = strcmp(strbuf_str(&period_type->type), "cpu") == 0 &&
			  is_unit(period_type, "nanoseconds") && message->period > 0;
	bool has_samples = columns->is_there[PROFILE_CPU];

	*plan = (struct pprof_plan){
		.is_there = has_samples || columns->is_there[ROLE_CPU_TIME],
		.column = columns->of[has_samples ? PROFILE_CPU : ROLE_CPU_TIME],
		.period = has_period ? message->period : 1,
		.unit = 1,
	};
	if (!has_samples)
		plan->unit = plan->period;
	else if (!has_period && columns->is_there[ROLE_CPU_TIME])
		return get_mean(message, columns, sample, &plan->period);
	return 0;
}

static void plan_other(const struct pprof_message *message, const struct names *period_type,
		       const struct columns *columns, enum profile_type type,
		       struct pprof_plan *plan)
{
	const char *unit = profile_type_names(type)->period_unit;

	*plan = (struct pprof_plan){
		.is_there = columns->is_there[type],
		.column = columns->of[type],
		.unit = 1,
	};
	if (*unit)
		plan->period = is_unit(period_type, unit) ? max_u64(1, message->period) : 1;
}

static size_t count_unknown(const struct pprof_message *message, const struct columns *columns,
			    const struct pprof_plans *plans)
{
	size_t nr = message->nr_types;

	for (size_t i = 0; i < PROFILE_NR_TYPES; i++)
		nr -= plans->of[i].is_there;
	return nr - (columns->is_there[PROFILE_CPU] && columns->is_there[ROLE_CPU_TIME]);
}

static int none_is_known(const struct pprof_message *message, struct names *names)
{
	int r = get_names(message, &message->types[0], names);
	if (r < 0)
		return r;
	return pprof_fail(message, -ENOENT, "no sample type is known: %s%s",
			  strbuf_str(&names->both), message->nr_types > 1 ? " and others" : "");
}

int pprof_plan(const struct pprof_message *message, struct pprof_sample *sample,
	       struct pprof_plans *ret_plans)
{
	_cleanup_(names_done) struct names names = {
		.type = strbuf_with_max(SIZE_MAX),
		.unit = strbuf_with_max(SIZE_MAX),
		.both = strbuf_with_max(SIZE_MAX),
	};
	struct pprof_plans plans = { 0 };
	struct columns columns = { 0 };

	int r = find_columns(message, &names, &columns);
	if (r < 0)
		return r;
	r = get_names(message, &message->period_type, &names);
	if (r < 0)
		return r;
	claim_samples(message, &names, &columns);
	r = plan_cpu(message, &names, &columns, sample, &plans.of[PROFILE_CPU]);
	if (r < 0)
		return r;
	for (enum profile_type type = PROFILE_CPU + 1; type < PROFILE_NR_TYPES; type++)
		plan_other(message, &names, &columns, type, &plans.of[type]);
	plans.nr_unknown = count_unknown(message, &columns, &plans);
	if (plans.nr_unknown == message->nr_types)
		return none_is_known(message, &names);
	*ret_plans = plans;
	return 0;
}

uint64_t pprof_count(const struct pprof_plan *plan, const struct pprof_sample *sample)
{
	uint64_t value = sample->values[plan->column];

	if (value == 0 || value > INT64_MAX)
		return 0;
	return max_u64(1, value / plan->unit + (value % plan->unit >= plan->unit - plan->unit / 2));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/units.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNITS_MAX ((size_t)1 << 24)
#define CONTAINER_ID_SHOWN 12
#define HOST "host" /* the service of processes without one */
#define NAME_COLUMNS 80 /* longer names are elided */

struct unit_key {
	uint64_t first, second;
};

static uint32_t program_of(const struct profile *profile, const struct profile_sample *sample)
{
	uint32_t name = profile->processes[sample->process].name;

	return name ? name : sample->process_comm;
}

static struct unit_key key_of(enum finding_scope scope, const struct profile *profile,
			      const struct profile_sample *sample)
{
	switch (scope) {
	case SCOPE_CGROUP:
		return (struct unit_key){ sample->cgroup_id, sample->resource };
	case SCOPE_PROGRAM:
		return (struct unit_key){ program_of(profile, sample), sample->resource };
	case SCOPE_PROCESS:
		return (struct unit_key){ sample->pid, sample->process };
	case SCOPE_CPU:
		return (struct unit_key){ sample->cpu, 0 };
	case SCOPE_NODE:
	case NR_FINDING_SCOPES:
		break;
	}
	return (struct unit_key){ 0, 0 };
}

static bool find_unit(const struct units *units, const struct profile *profile,
		      struct htable_iter it, struct unit_key key, uint32_t *ret_unit)
{
	while (htable_next(&it, ret_unit)) {
		const struct unit *unit = &units->units[*ret_unit];
		struct unit_key other = key_of(units->scope, profile,
					       &profile->samples[unit->sample]);

		if (other.first == key.first && other.second == key.second)
			return true;
	}
	return false;
}

static int get_unit(struct units *units, const struct profile *profile, struct htable *index,
		    size_t sample, uint32_t *ret_unit)
{
	struct unit_key key = key_of(units->scope, profile, &profile->samples[sample]);
	uint32_t hash = hash_bytes(&key, sizeof(key));

	if (find_unit(units, profile, htable_lookup(index, hash), key, ret_unit))
		return 0;
	int r = array_grow(units->units, units->cap, units->nr + 1, UNITS_MAX);
	if (r == 0)
		r = htable_add(index, hash, (uint32_t)units->nr);
	if (r < 0)
		return r;
	units->units[units->nr] = (struct unit){ .sample = sample };
	*ret_unit = (uint32_t)units->nr++;
	return 0;
}

static int add_samples(struct units *units, const struct profile *profile)
{
	_cleanup_(htable_done) struct htable index = { 0 };

	for (size_t i = 0; i < profile->nr_samples; i++) {
		int r = get_unit(units, profile, &index, i, &units->of_sample[i]);

		if (r < 0)
			return r;
		struct unit *unit = &units->units[units->of_sample[i]];
		unit->total += profile->samples[i].count;
		unit->has_pids = unit->has_pids ||
				 profile->samples[i].pid != profile->samples[unit->sample].pid;
	}
	return 0;
}

int units_init(struct units *units, enum finding_scope scope, const struct profile *profile)
{
	*units = (struct units){ .scope = scope };
	units->of_sample = calloc(profile->nr_samples + 1, sizeof(*units->of_sample));
	int r = units->of_sample ? add_samples(units, profile) : -ENOMEM;
	if (r < 0)
		units_done(units);
	return r;
}

void units_done(struct units *units)
{
	free(units->of_sample);
	free(units->units);
	*units = (struct units){ 0 };
}

/* Appends the pod, container or service of a sample after `before`; nothing if there is none. */
static bool append_owner(const struct profile *profile, uint32_t resource, const char *before,
			 struct strbuf *out)
{
	const char *pod = profile_resource_get(profile, resource, "k8s.pod.name");
	const char *ns = profile_resource_get(profile, resource, "k8s.namespace.name");
	const char *uid = profile_resource_get(profile, resource, "k8s.pod.uid");
	const char *service = profile_resource_get(profile, resource, "service.name");
	const char *container = profile_resource_get(profile, resource, "container.id");

	if (!pod && !uid && !container && (!service || strcmp(service, HOST) == 0))
		return false;
	strbuf_append_str(out, before);
	if (pod || uid)
		strbuf_append_str(out, "pod ");
	if (pod && ns) {
		text_append_name(out, ns, NAME_COLUMNS, ELIDE_MIDDLE);
		strbuf_append_char(out, '/');
	}
	if (pod || uid || service)
		text_append_name(out, pod ? pod : uid ? uid : service, NAME_COLUMNS, ELIDE_MIDDLE);
	else {
		strbuf_append_str(out, "container ");
		text_append_name(out, container, CONTAINER_ID_SHOWN, ELIDE_MIDDLE);
	}
	return true;
}

static void append_process(const struct unit *unit, const struct profile *profile,
			   struct strbuf *out)
{
	const struct profile_sample *sample = &profile->samples[unit->sample];
	uint32_t name = program_of(profile, sample);

	text_append_name(out, name ? profile_string(profile, name) : "[unnamed]", NAME_COLUMNS,
			 ELIDE_MIDDLE);
	if (!unit->has_pids && sample->pid > 0)
		strbuf_appendf(out, " (pid %" PRIu32 ")", sample->pid);
	append_owner(profile, sample->resource, " in ", out);
}

void units_append_name(const struct units *units, size_t unit, const struct profile *profile,
		       struct strbuf *out)
{
	const struct profile_sample *sample = &profile->samples[units->units[unit].sample];

	if (units->scope == SCOPE_CPU)
		strbuf_appendf(out, "CPU %" PRIu32, sample->cpu);
	else if (units->scope == SCOPE_PROGRAM || units->scope == SCOPE_PROCESS)
		append_process(&units->units[unit], profile, out);
	else if (units->scope == SCOPE_NODE)
		strbuf_append_str(out, "all samples");
	else if (!append_owner(profile, sample->resource, "", out))
		strbuf_append_str(out, "processes of the host");
}

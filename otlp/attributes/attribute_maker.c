/* SPDX-License-Identifier: Apache-2.0 */
/* Resources first, then processes and samples, whose values are counted before any is decided on:
 *
 *	resources ─▶ rules ─▶ attributes, their hash, which are alike
 *	processes ─▶ tally of values ─▶ guard ─▶ groups: attributes of resource and process
 *	samples   ──────▲                 └────▶ what is left of each sample */
#include "otlp/attributes/attribute_maker.h"

#include "base/hash.h"
#include "base/htable.h"
#include "base/strbuf.h"
#include "otlp/attributes/attribute_guard.h"
#include "otlp/attributes/attribute_processes.h"
#include "otlp/attributes/attribute_rules.h"
#include "otlp/attributes/attribute_tally.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX_BYTES ((size_t)1 << 20)
#define CONTAINER_KEY "container.id"

/* The other attributes are those of the resource. */
#define STANDARD_ATTRIBUTES                                                                        \
	(SAMPLE_THREAD_NAME | SAMPLE_THREAD_ID | SAMPLE_CPU | SAMPLE_CGROUP | SAMPLE_REASON)

struct attribute_maker {
	struct attribute_rules rules; /* texts owned by `memory` */
	struct arena memory;
	unsigned int sample_attributes;
	struct process_rules processes;
	struct attribute_guard *guard; /* owned */
	struct attribute_maker_stats stats; /* atomic */
};

struct content_hash {
	uint64_t words[2];
};

/* State while attributes are made. */
struct making {
	struct attribute_maker *maker;
	const struct profile *profile;
	struct export_attributes attributes;
	/* This and the next four: owned; by the profile's resources */
	struct group_attributes *resources;
	struct content_hash *hashes;
	uint32_t *first_alike; /* the first one with the same attributes */
	uint32_t *containers; /* strings: container.id; 0: it has none */
	struct htable alike; /* first ones by hash */
	struct strbuf content; /* scratch: what is hashed */
	struct attribute_processes processes;
	struct attribute_tally tally;
};

static const struct {
	enum sample_attribute attribute;
	const char *key;
} sample_keys[] = {
	{ SAMPLE_THREAD_NAME, "thread.name" },
	{ SAMPLE_CPU, "cpu.logical_number" },
	{ SAMPLE_CGROUP, "flamelet.cgroup.id" },
	{ SAMPLE_THREAD_ID, "thread.id" },
	{ SAMPLE_PID, "process.pid" },
	{ SAMPLE_CONTAINER, CONTAINER_KEY },
	{ SAMPLE_REASON, "flamelet.wait.reason" },
};

static char *copy_text(struct arena *memory, const char *text)
{
	return arena_strndup(memory, text, strlen(text));
}

static int copy_rules(struct attribute_maker *maker, const struct attribute_opts *opts)
{
	const char **excluded = arena_alloc(&maker->memory, opts->nr_excluded * sizeof(*excluded));
	struct attribute *extra = arena_alloc(&maker->memory, opts->nr_extra * sizeof(*extra));

	if (!excluded || !extra)
		return -ENOMEM;
	for (size_t i = 0; i < opts->nr_excluded; i++) {
		excluded[i] = copy_text(&maker->memory, opts->excluded[i]);
		if (!excluded[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < opts->nr_extra; i++) {
		extra[i].key = copy_text(&maker->memory, opts->extra[i].key);
		extra[i].value = copy_text(&maker->memory, opts->extra[i].value);
		if (!extra[i].key || !extra[i].value)
			return -ENOMEM;
	}
	maker->rules = (struct attribute_rules){
		.preset = opts->preset,
		.excluded = excluded,
		.nr_excluded = opts->nr_excluded,
		.extra = extra,
		.nr_extra = opts->nr_extra,
	};
	return 0;
}

/* Returns how many a sample has at most. It has a CPU, or it is a wait and has a reason. */
static size_t choose_sample_attributes(struct attribute_maker *maker, unsigned int wanted)
{
	const unsigned int either = SAMPLE_CPU | SAMPLE_REASON;
	size_t nr = 0;

	if (wanted == SAMPLE_ATTRIBUTES_DEFAULT)
		wanted = maker->rules.preset == ATTRIBUTES_PYROSCOPE ? 0 : STANDARD_ATTRIBUTES;
	for (size_t i = 0; i < array_len(sample_keys); i++) {
		if (!(wanted & sample_keys[i].attribute) ||
		    attribute_rules_exclude(&maker->rules, sample_keys[i].key))
			continue;
		maker->sample_attributes |= sample_keys[i].attribute;
		nr++;
	}
	return (maker->sample_attributes & either) == either ? nr - 1 : nr;
}

/* Fills in the preset's values for unset options. */
static struct attribute_opts complete(struct attribute_opts opts)
{
	bool is_pyroscope = opts.preset == ATTRIBUTES_PYROSCOPE;

	if (opts.max_values == 0)
		opts.max_values = is_pyroscope ? ATTRIBUTES_PYROSCOPE_MAX_VALUES
					       : ATTRIBUTES_STANDARD_MAX_VALUES;
	if (opts.max_attributes == 0)
		opts.max_attributes = is_pyroscope ? ATTRIBUTES_PYROSCOPE_LIMIT : UINT32_MAX;
	return opts;
}

int attribute_maker_new(const struct attribute_opts *opts, struct attribute_maker **ret_maker)
{
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = calloc(1, sizeof(*maker));
	const struct attribute_opts chosen = complete(*opts);

	if (!maker)
		return -ENOMEM;
	int r = copy_rules(maker, &chosen);
	if (r < 0)
		return r;
	size_t nr = choose_sample_attributes(maker, chosen.sample_attributes);
	process_rules_init(&maker->processes, &maker->rules);
	nr += process_rules_max(&maker->processes);
	maker->rules.max_attributes = chosen.max_attributes > nr ? chosen.max_attributes - nr : 0;
	r = attribute_guard_new(chosen.max_values, &maker->guard);
	if (r < 0)
		return r;
	*ret_maker = take_ptr(maker);
	return 0;
}

void attribute_maker_free(struct attribute_maker *maker)
{
	if (!maker)
		return;
	attribute_guard_free(maker->guard);
	arena_done(&maker->memory);
	free(maker);
}

static void count(uint64_t *counter, uint64_t nr)
{
	__atomic_add_fetch(counter, nr, __ATOMIC_RELAXED);
}

static void making_done(struct making *making)
{
	export_attributes_done(&making->attributes);
	free(making->resources);
	free(making->hashes);
	free(making->first_alike);
	free(making->containers);
	htable_done(&making->alike);
	attribute_processes_done(&making->processes);
	strbuf_done(&making->content);
	attribute_tally_done(&making->tally);
}

static int making_init(struct making *making)
{
	const struct profile *profile = making->profile;
	size_t nr = profile->nr_resources;

	making->content = strbuf_with_max(CONTENT_MAX_BYTES);
	making->attributes.samples = calloc(profile->nr_samples + 1,
					    sizeof(*making->attributes.samples));
	making->resources = calloc(nr, sizeof(*making->resources));
	making->hashes = calloc(nr, sizeof(*making->hashes));
	making->first_alike = calloc(nr, sizeof(*making->first_alike));
	making->containers = calloc(nr, sizeof(*making->containers));
	return making->attributes.samples && making->resources && making->hashes &&
			       making->first_alike && making->containers
		       ? 0
		       : -ENOMEM;
}

/* Texts with their NULs: no two lists have the same bytes. */
static int hash_resource(struct making *making, uint32_t resource)
{
	const struct group_attributes *attributes = &making->resources[resource];
	struct strbuf *content = &making->content;

	strbuf_clear(content);
	for (size_t i = 0; i < attributes->nr; i++) {
		const struct attribute *item = &attributes->items[i];

		strbuf_append(content, item->key, strlen(item->key) + 1);
		strbuf_append(content, item->value, strlen(item->value) + 1);
	}
	hash_128(content->data, content->len, making->hashes[resource].words);
	return strbuf_error(content);
}

static int find_alike(struct making *making, uint32_t resource)
{
	const uint64_t *words = making->hashes[resource].words;
	struct htable_iter it = htable_lookup(&making->alike, (uint32_t)words[0]);

	for (uint32_t first; htable_next(&it, &first);) {
		if (memcmp(&making->hashes[first], words, sizeof(making->hashes[first])) == 0) {
			making->first_alike[resource] = first;
			return 0;
		}
	}
	making->first_alike[resource] = resource;
	return htable_add(&making->alike, (uint32_t)words[0], resource);
}

static uint32_t container_of_resource(const struct profile *profile, uint32_t resource)
{
	const struct profile_resource *of = &profile->resources[resource];

	for (size_t i = of->first; i < of->first + of->nr; i++)
		if (strcmp(profile_string(profile, profile->attributes[i].key), CONTAINER_KEY) == 0)
			return profile->attributes[i].value;
	return 0;
}

static int make_resource(struct making *making, uint32_t resource)
{
	uint64_t nr_dropped;

	int r = attribute_rules_apply(&making->maker->rules, making->profile, resource,
				      &making->attributes.memory, &making->resources[resource],
				      &nr_dropped);
	if (r < 0)
		return r;
	count(&making->maker->stats.nr_attributes_dropped, nr_dropped);
	making->containers[resource] = container_of_resource(making->profile, resource);
	r = hash_resource(making, resource);
	return r < 0 ? r : find_alike(making, resource);
}

/* Gets a sample's value of an attribute: a number, or a string of the profile. Returns whether
 * there is one. */
static bool get_value(const struct making *making, size_t number, enum sample_attribute attribute,
		      uint64_t *ret_value)
{
	const struct profile_sample *sample = &making->profile->samples[number];
	const struct process_row *process =
		&making->processes.rows[making->processes.of_sample[number]];
	bool is_joined = making->maker->processes.has_pid && process->name && !process->is_alone;

	switch (attribute) {
	case SAMPLE_THREAD_NAME:
		*ret_value = sample->thread_comm;
		break;
	case SAMPLE_CPU:
		*ret_value = sample->cpu;
		return sample->cpu != PROFILE_CPU_UNKNOWN;
	case SAMPLE_CGROUP:
		*ret_value = sample->cgroup_id;
		break;
	case SAMPLE_THREAD_ID:
		*ret_value = is_joined ? 0 : sample->tid;
		break;
	case SAMPLE_PID:
		*ret_value = process->key.pid;
		break;
	case SAMPLE_CONTAINER:
		*ret_value = making->containers[sample->resource];
		break;
	case SAMPLE_REASON:
		*ret_value = sample->reason;
		break;
	}
	return *ret_value != 0;
}

/* Thread ids are always new: all places would be taken within minutes, and later threads would have
 * none. Where they leave with their process's pid they need no place. There are at most as many of
 * them as samples. */
static bool is_guarded(const struct making *making, size_t sample, const struct tally_key *key)
{
	uint32_t row = making->processes.of_sample[sample];

	return key->attribute != SAMPLE_THREAD_ID || !making->processes.rows[row].is_alone;
}

/* Fills in the attributes that the sample has and that are wanted. */
static size_t keys_of(const struct making *making, size_t sample,
		      struct tally_key keys[static array_len(sample_keys)])
{
	uint32_t resource = making->profile->samples[sample].resource;
	struct tally_key key = { .group = making->first_alike[resource] };
	size_t nr = 0;

	for (size_t i = 0; i < array_len(sample_keys); i++) {
		key.attribute = sample_keys[i].attribute;
		if ((making->maker->sample_attributes & key.attribute) &&
		    get_value(making, sample, key.attribute, &key.value))
			keys[nr++] = key;
	}
	return nr;
}

static int tally_processes(struct making *making)
{
	struct tally_key key;
	int r = 0;

	for (size_t i = 0; r == 0 && i < making->processes.nr_rows; i++) {
		const struct process_row *process = &making->processes.rows[i];

		if (process_row_key(process, &key))
			r = attribute_tally_add(&making->tally, &key, process->count);
	}
	return r;
}

static int tally_samples(struct making *making)
{
	struct tally_key keys[array_len(sample_keys)];

	for (size_t i = 0; i < making->profile->nr_samples; i++) {
		size_t nr = keys_of(making, i, keys);

		for (size_t k = 0; k < nr; k++) {
			int r = 0;

			if (is_guarded(making, i, &keys[k]))
				r = attribute_tally_add(&making->tally, &keys[k],
							making->profile->samples[i].count);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static bool is_text(uint32_t attribute)
{
	return attribute == SAMPLE_THREAD_NAME || attribute == SAMPLE_CONTAINER ||
	       attribute == PROGRAM_ATTRIBUTE;
}

/* Numbers of strings differ between profiles, so the guard identifies texts by a hash. */
static struct tally_place place_of(const struct tally_key *key, const void *data)
{
	const struct making *making = data;
	const uint64_t *words = making->hashes[key->group].words;
	struct tally_place place = {
		.set = { .resource = { words[0], words[1] }, .attribute = key->attribute },
		.value = key->value,
	};

	if (is_text(key->attribute)) {
		const char *text = profile_string(making->profile, (uint32_t)key->value);
		uint64_t hash[2];

		hash_128(text, strlen(text), hash);
		place.value = hash[0];
	}
	return place;
}

static void set_attribute(struct kept_attributes *attributes, const struct tally_key *key,
			  bool is_admitted)
{
	uint32_t value = (uint32_t)key->value;

	switch ((enum sample_attribute)key->attribute) {
	case SAMPLE_THREAD_NAME:
		attributes->thread_name = is_admitted ? value : ATTRIBUTE_OTHER;
		break;
	case SAMPLE_CPU:
		attributes->cpu = is_admitted ? value : ATTRIBUTE_NONE;
		break;
	case SAMPLE_CGROUP:
		attributes->cgroup_id = is_admitted ? key->value : 0;
		break;
	case SAMPLE_THREAD_ID:
		attributes->thread_id = is_admitted ? value : 0;
		break;
	case SAMPLE_PID:
		attributes->pid = is_admitted ? value : 0;
		break;
	case SAMPLE_CONTAINER:
		attributes->container = is_admitted ? value : ATTRIBUTE_OTHER;
		break;
	case SAMPLE_REASON:
		attributes->reason = is_admitted ? value : REASON_NONE;
		break;
	}
}

/* Sets the attributes of a sample. Returns whether the guard admitted all values. */
static bool keep_attributes(struct making *making, size_t number)
{
	const struct process_row *process =
		&making->processes.rows[making->processes.of_sample[number]];
	struct kept_attributes *attributes = &making->attributes.samples[number];
	struct tally_key keys[array_len(sample_keys)], program;
	size_t nr = keys_of(making, number, keys);
	bool is_whole = !process_row_key(process, &program) ||
			attribute_tally_admits(&making->tally, &program);

	*attributes = (struct kept_attributes){ .group = process->group, .cpu = ATTRIBUTE_NONE };
	for (size_t k = 0; k < nr; k++) {
		bool is_admitted = !is_guarded(making, number, &keys[k]) ||
				   attribute_tally_admits(&making->tally, &keys[k]);

		set_attribute(attributes, &keys[k], is_admitted);
		is_whole &= is_admitted;
	}
	return is_whole;
}

static void make_samples(struct making *making)
{
	const struct profile *profile = making->profile;
	uint64_t nr_collapsed = 0;

	for (size_t i = 0; i < profile->nr_samples; i++)
		if (!keep_attributes(making, i))
			nr_collapsed += profile_sample_nr_taken(profile, &profile->samples[i]);
	count(&making->maker->stats.nr_samples_collapsed, nr_collapsed);
}

static int tally(struct making *making)
{
	int r = attribute_processes_init(&making->processes, &making->maker->processes,
					 making->profile, making->first_alike);
	if (r == 0)
		r = tally_processes(making);
	return r < 0 ? r : tally_samples(making);
}

int attribute_maker_make(struct attribute_maker *maker, const struct profile *profile,
			 uint64_t now_ns, struct export_attributes *ret_attributes)
{
	_cleanup_(making_done) struct making making = { .maker = maker, .profile = profile };

	int r = making_init(&making);
	for (uint32_t i = 0; r == 0 && i < profile->nr_resources; i++)
		r = make_resource(&making, i);
	if (r == 0)
		r = tally(&making);
	if (r < 0)
		return r;

	attribute_guard_expire(maker->guard, now_ns);
	r = attribute_tally_decide(&making.tally, maker->guard, now_ns, place_of, &making);
	if (r == 0)
		r = attribute_processes_group(&making.processes, &making.tally, making.resources,
					      &making.attributes);
	if (r < 0)
		return r;
	make_samples(&making);
	*ret_attributes = making.attributes;
	making.attributes = (struct export_attributes){ 0 };
	return 0;
}

struct attribute_maker_stats attribute_maker_get_stats(const struct attribute_maker *maker)
{
	const struct attribute_maker_stats *stats = &maker->stats;

	return (struct attribute_maker_stats){
		.nr_samples_collapsed = __atomic_load_n(&stats->nr_samples_collapsed,
							__ATOMIC_RELAXED),
		.nr_attributes_dropped = __atomic_load_n(&stats->nr_attributes_dropped,
							 __ATOMIC_RELAXED),
	};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Resources first, then samples, whose values are counted before any is decided on:
 *
 *	resources ─▶ rules ─▶ labels, their hash, groups of equal ones
 *	samples   ─▶ tally of values ─▶ guard ─▶ what is left of each sample */
#include "otlp/labels.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/strbuf.h"
#include "otlp/label_guard.h"
#include "otlp/label_rules.h"
#include "otlp/label_tally.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX_BYTES ((size_t)1 << 20)

struct label_maker {
	struct label_rules rules; /* texts owned by `memory` */
	struct arena memory;
	unsigned int sample_attributes;
	struct label_guard *guard; /* owned */
	struct label_maker_stats stats; /* atomic */
};

struct content_hash {
	uint64_t words[2];
};

/* Labels while they are made. */
struct making {
	struct label_maker *maker;
	const struct profile *profile;
	struct labels labels;
	struct content_hash *hashes; /* owned; by the profile's resources */
	struct htable groups; /* resources by hash: the first one of each group */
	struct strbuf content; /* scratch: what is hashed */
	struct label_tally tally;
};

static const struct {
	enum sample_attribute attribute;
	const char *key;
} sample_keys[] = {
	{ SAMPLE_THREAD_NAME, "thread.name" },
	{ SAMPLE_CPU, "cpu.logical_number" },
	{ SAMPLE_CGROUP, "flamelet.cgroup.id" },
};

void labels_done(struct labels *labels)
{
	free(labels->resources);
	free(labels->samples);
	arena_done(&labels->memory);
	*labels = (struct labels){ 0 };
}

static char *copy_text(struct arena *memory, const char *text)
{
	return arena_strndup(memory, text, strlen(text));
}

static int copy_rules(struct label_maker *maker, const struct label_opts *opts)
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
	maker->rules = (struct label_rules){
		.preset = opts->preset,
		.excluded = excluded,
		.nr_excluded = opts->nr_excluded,
		.extra = extra,
		.nr_extra = opts->nr_extra,
	};
	return 0;
}

/* Returns how many there are. */
static size_t choose_sample_attributes(struct label_maker *maker, unsigned int wanted)
{
	size_t nr = 0;

	if (wanted == SAMPLE_ATTRIBUTES_DEFAULT && maker->rules.preset == LABELS_PYROSCOPE)
		wanted = 0;
	for (size_t i = 0; i < array_len(sample_keys); i++) {
		if (!(wanted & sample_keys[i].attribute) ||
		    label_rules_exclude(&maker->rules, sample_keys[i].key))
			continue;
		maker->sample_attributes |= sample_keys[i].attribute;
		nr++;
	}
	return nr;
}

/* What the caller leaves to the preset. */
static struct label_opts complete(struct label_opts opts)
{
	bool is_pyroscope = opts.preset == LABELS_PYROSCOPE;

	if (opts.max_values == 0)
		opts.max_values = is_pyroscope ? LABELS_PYROSCOPE_MAX_VALUES
					       : LABELS_STANDARD_MAX_VALUES;
	if (opts.max_labels == 0)
		opts.max_labels = is_pyroscope ? LABELS_PYROSCOPE_MAX_LABELS : UINT32_MAX;
	return opts;
}

int label_maker_new(const struct label_opts *opts, struct label_maker **ret_maker)
{
	_cleanup_(label_maker_freep) struct label_maker *maker = calloc(1, sizeof(*maker));
	const struct label_opts chosen = complete(*opts);

	if (!maker)
		return -ENOMEM;
	int r = copy_rules(maker, &chosen);
	if (r < 0)
		return r;
	size_t nr = choose_sample_attributes(maker, chosen.sample_attributes);
	maker->rules.max_labels = chosen.max_labels > nr ? chosen.max_labels - nr : 0;
	r = label_guard_new(chosen.max_values, &maker->guard);
	if (r < 0)
		return r;
	*ret_maker = take_ptr(maker);
	return 0;
}

void label_maker_free(struct label_maker *maker)
{
	if (!maker)
		return;
	label_guard_free(maker->guard);
	arena_done(&maker->memory);
	free(maker);
}

static void count(uint64_t *counter, uint64_t nr)
{
	__atomic_add_fetch(counter, nr, __ATOMIC_RELAXED);
}

static void making_done(struct making *making)
{
	labels_done(&making->labels);
	free(making->hashes);
	htable_done(&making->groups);
	strbuf_done(&making->content);
	label_tally_done(&making->tally);
}

static int making_init(struct making *making)
{
	const struct profile *profile = making->profile;

	making->content = strbuf_with_max(CONTENT_MAX_BYTES);
	making->labels.resources = calloc(profile->nr_resources, sizeof(*making->labels.resources));
	making->labels.samples = calloc(profile->nr_samples + 1, sizeof(*making->labels.samples));
	making->hashes = calloc(profile->nr_resources, sizeof(*making->hashes));
	return making->labels.resources && making->labels.samples && making->hashes ? 0 : -ENOMEM;
}

/* Texts with their NULs: no two lists have the same bytes. */
static int hash_resource(struct making *making, uint32_t resource)
{
	const struct resource_labels *labels = &making->labels.resources[resource];
	struct strbuf *content = &making->content;

	strbuf_clear(content);
	for (size_t i = 0; i < labels->nr; i++) {
		const struct attribute *item = &labels->items[i];

		strbuf_append(content, item->key, strlen(item->key) + 1);
		strbuf_append(content, item->value, strlen(item->value) + 1);
	}
	hash_128(content->data, content->len, making->hashes[resource].words);
	return strbuf_error(content);
}

static int group_resource(struct making *making, uint32_t resource)
{
	const uint64_t *words = making->hashes[resource].words;
	struct htable_iter it = htable_lookup(&making->groups, (uint32_t)words[0]);

	for (uint32_t first; htable_next(&it, &first);) {
		if (memcmp(&making->hashes[first], words, sizeof(making->hashes[first])) == 0) {
			making->labels.resources[resource].group = first;
			return 0;
		}
	}
	making->labels.resources[resource].group = resource;
	return htable_add(&making->groups, (uint32_t)words[0], resource);
}

static int make_resource(struct making *making, uint32_t resource)
{
	uint64_t nr_dropped;

	int r = label_rules_apply(&making->maker->rules, making->profile, resource,
				  &making->labels.memory, &making->labels.resources[resource],
				  &nr_dropped);
	if (r < 0)
		return r;
	count(&making->maker->stats.nr_attributes_dropped, nr_dropped);
	r = hash_resource(making, resource);
	return r < 0 ? r : group_resource(making, resource);
}

/* Fills in the attributes that the sample has and that are wanted. */
static size_t keys_of(const struct making *making, const struct profile_sample *sample,
		      struct tally_key keys[static array_len(sample_keys)])
{
	unsigned int wanted = making->maker->sample_attributes;
	const struct tally_key key = {
		.group = making->labels.resources[sample->resource].group,
	};
	size_t nr = 0;

	if ((wanted & SAMPLE_THREAD_NAME) && sample->thread_comm) {
		keys[nr] = key;
		keys[nr].attribute = SAMPLE_THREAD_NAME;
		keys[nr++].value = sample->thread_comm;
	}
	if (wanted & SAMPLE_CPU) {
		keys[nr] = key;
		keys[nr].attribute = SAMPLE_CPU;
		keys[nr++].value = sample->cpu;
	}
	if ((wanted & SAMPLE_CGROUP) && sample->cgroup_id) {
		keys[nr] = key;
		keys[nr].attribute = SAMPLE_CGROUP;
		keys[nr++].value = sample->cgroup_id;
	}
	return nr;
}

static int tally_samples(struct making *making)
{
	struct tally_key keys[array_len(sample_keys)];

	for (size_t i = 0; i < making->profile->nr_samples; i++) {
		const struct profile_sample *sample = &making->profile->samples[i];
		size_t nr = keys_of(making, sample, keys);

		for (size_t k = 0; k < nr; k++) {
			int r = label_tally_add(&making->tally, &keys[k], sample->count);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* Numbers of strings are another profile's others: the guard knows threads by a hash of their names. */
static struct tally_place place_of(const struct tally_key *key, const void *data)
{
	const struct making *making = data;
	const uint64_t *words = making->hashes[key->group].words;
	struct tally_place place = {
		.set = { .resource = { words[0], words[1] }, .attribute = key->attribute },
		.value = key->value,
	};

	if (key->attribute == SAMPLE_THREAD_NAME) {
		const char *name = profile_string(making->profile, (uint32_t)key->value);
		uint64_t hash[2];

		hash_128(name, strlen(name), hash);
		place.value = hash[0];
	}
	return place;
}

static void set_label(struct sample_labels *labels, const struct tally_key *key, bool is_admitted)
{
	if (key->attribute == SAMPLE_THREAD_NAME)
		labels->thread_name = is_admitted ? (uint32_t)key->value : LABEL_OTHER;
	else if (key->attribute == SAMPLE_CPU)
		labels->cpu = is_admitted ? (uint32_t)key->value : LABEL_NONE;
	else
		labels->cgroup_id = is_admitted ? key->value : 0;
}

static void make_samples(struct making *making)
{
	struct tally_key keys[array_len(sample_keys)];
	uint64_t nr_collapsed = 0;

	for (size_t i = 0; i < making->profile->nr_samples; i++) {
		const struct profile_sample *sample = &making->profile->samples[i];
		struct sample_labels *labels = &making->labels.samples[i];
		size_t nr = keys_of(making, sample, keys);
		bool is_collapsed = false;

		*labels = (struct sample_labels){ .cpu = LABEL_NONE };
		for (size_t k = 0; k < nr; k++) {
			bool is_admitted = label_tally_admits(&making->tally, &keys[k]);

			set_label(labels, &keys[k], is_admitted);
			is_collapsed |= !is_admitted;
		}
		nr_collapsed += is_collapsed ? sample->count : 0;
	}
	count(&making->maker->stats.nr_samples_collapsed, nr_collapsed);
}

int label_maker_make(struct label_maker *maker, const struct profile *profile, uint64_t now_ns,
		     struct labels *ret_labels)
{
	_cleanup_(making_done) struct making making = { .maker = maker, .profile = profile };

	int r = making_init(&making);
	for (uint32_t i = 0; r == 0 && i < profile->nr_resources; i++)
		r = make_resource(&making, i);
	if (r == 0)
		r = tally_samples(&making);
	if (r < 0)
		return r;

	label_guard_expire(maker->guard, now_ns);
	r = label_tally_decide(&making.tally, maker->guard, now_ns, place_of, &making);
	if (r < 0)
		return r;
	make_samples(&making);
	*ret_labels = making.labels;
	making.labels = (struct labels){ 0 };
	return 0;
}

struct label_maker_stats label_maker_get_stats(const struct label_maker *maker)
{
	const struct label_maker_stats *stats = &maker->stats;

	return (struct label_maker_stats){
		.nr_samples_collapsed = __atomic_load_n(&stats->nr_samples_collapsed,
							__ATOMIC_RELAXED),
		.nr_attributes_dropped = __atomic_load_n(&stats->nr_attributes_dropped,
							 __ATOMIC_RELAXED),
	};
}

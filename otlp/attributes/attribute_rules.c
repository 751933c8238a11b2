/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes are first collected in a draft, a list of bounded length in order of importance:
 *
 *	short names, the resource's own, the user's
 *	    ─▶ excluded? there already? ─▶ draft ─▶ clean names and values ─▶ cut
 *
 * Names are cleaned in the draft's order, so that of two names that become equal the less important
 * one is changed: an annotation "k8s_pod_name" does not take the place of the pod's name. */
#include "otlp/attributes/attribute_rules.h"

#include "base/wildcard.h"
#include "otlp/attributes/attribute_names.h"

#include <string.h>

/* Our own resources have at most 60; files of other programs may have any number. */
#define DRAFT_MAX 128

struct draft_item {
	struct attribute attribute; /* borrowed */
	enum attribute_rank rank;
};

struct draft {
	const struct attribute_rules *rules;
	struct draft_item items[DRAFT_MAX];
	size_t nr;
	uint64_t nr_dropped;
};

/* The resource with the attributes. */
struct source {
	const struct attribute_rules *rules;
	const struct profile *profile;
	uint32_t resource;
};

static const struct {
	const char *name;
	const char *keys[9]; /* the first one that the resource has */
} short_names[] = {
	{ "namespace", { "k8s.namespace.name" } },
	{ "pod", { "k8s.pod.name" } },
	{ "container", { "k8s.container.name" } },
	{ "node", { "k8s.node.name" } },
	{ "workload",
	  { "k8s.deployment.name", "k8s.statefulset.name", "k8s.daemonset.name", "k8s.cronjob.name",
	    "k8s.job.name", "k8s.replicaset.name", "k8s.replicationcontroller.name",
	    "k8s.workload.name" } },
};

/* Attributes that ATTRIBUTES_PYROSCOPE omits. */
static const struct {
	const char *key;
	/* omitted only if the resource has this attribute, too; NULL: always */
	const char *told_by;
} redundant[] = {
	{ "k8s.pod.start_time", NULL },
	{ "k8s.container.restart_count", NULL },
	{ "container.runtime.name", NULL },
	{ "process.linux.cgroup", NULL },
	{ "k8s.pod.uid", NULL },
	{ "container.id", NULL },
	{ "service.instance.id", "k8s.container.name" },
	{ "flamelet.identity", "k8s.container.name" },
	{ "host.name", "k8s.node.name" },
};

bool attribute_rules_exclude(const struct attribute_rules *rules, const char *key)
{
	return wildcard_matches_any(rules->excluded, rules->nr_excluded, key);
}

static bool has_key(const struct draft *draft, const char *key)
{
	for (size_t i = 0; i < draft->nr; i++)
		if (strcmp(draft->items[i].attribute.key, key) == 0)
			return true;
	return false;
}

static void insert(struct draft *draft, const struct draft_item *item)
{
	size_t at = draft->nr;

	while (at > 0 && draft->items[at - 1].rank > item->rank)
		at--;
	memmove(&draft->items[at + 1], &draft->items[at], (draft->nr - at) * sizeof(*draft->items));
	draft->items[at] = *item;
	draft->nr++;
}

static void add(struct draft *draft, const char *key, const char *value)
{
	const struct draft_item item = { .attribute = { key, value },
					 .rank = attribute_rank_of(key) };

	if (!key[0] || !value || !value[0] || has_key(draft, key) ||
	    attribute_rules_exclude(draft->rules, key))
		return;
	if (draft->nr == DRAFT_MAX) {
		draft->nr_dropped++;
		if (draft->items[draft->nr - 1].rank <= item.rank)
			return;
		draft->nr--;
	}
	insert(draft, &item);
}

static const char *find_extra(const struct attribute_rules *rules, const char *key)
{
	for (size_t i = 0; i < rules->nr_extra; i++)
		if (strcmp(rules->extra[i].key, key) == 0)
			return rules->extra[i].value;
	return NULL;
}

static const char *find(const struct source *source, const char *key)
{
	const char *value = profile_resource_get(source->profile, source->resource, key);

	return value ? value : find_extra(source->rules, key);
}

static void add_short_names(struct draft *draft, const struct source *source)
{
	for (size_t i = 0; i < array_len(short_names); i++) {
		const char *value = NULL;

		for (const char *const *key = short_names[i].keys; *key && !value; key++)
			value = find(source, *key);
		add(draft, short_names[i].name, value);
	}
}

static bool is_redundant(const struct source *source, const char *key)
{
	for (size_t i = 0; i < array_len(redundant); i++)
		if (strcmp(redundant[i].key, key) == 0)
			return !redundant[i].told_by || find(source, redundant[i].told_by);
	return false;
}

static void add_own(struct draft *draft, const struct source *source)
{
	const struct profile *profile = source->profile;
	const struct profile_resource *resource = &profile->resources[source->resource];

	for (size_t i = resource->first; i < resource->first + resource->nr; i++) {
		const char *key = profile_string(profile, profile->attributes[i].key);

		if (source->rules->preset != ATTRIBUTES_PYROSCOPE || !is_redundant(source, key))
			add(draft, key, profile_string(profile, profile->attributes[i].value));
	}
}

static void add_extra(struct draft *draft, const struct source *source)
{
	const struct attribute_rules *rules = source->rules;

	for (size_t i = 0; i < rules->nr_extra; i++)
		if (!profile_resource_get(source->profile, source->resource, rules->extra[i].key))
			add(draft, rules->extra[i].key, rules->extra[i].value);
}

static void cut(struct draft *draft)
{
	size_t max = draft->rules->max_attributes;

	while (draft->nr > max && draft->items[draft->nr - 1].rank != ATTRIBUTE_RANK_IDENTITY) {
		draft->nr--;
		draft->nr_dropped++;
	}
}

/* The names before the current one. */
struct taken {
	const struct draft *draft;
	size_t nr;
};

static bool is_taken(const char *name, const void *data)
{
	const struct taken *taken = data;
	enum attribute_preset preset = taken->draft->rules->preset;

	for (size_t i = 0; i < taken->nr; i++)
		if (attribute_names_clash(preset, taken->draft->items[i].attribute.key, name))
			return true;
	return attribute_name_is_reserved(preset, name);
}

/* Returns `text` itself if it is clean, else a copy of `clean`. */
static const char *keep(struct arena *memory, const char *text, const char *clean)
{
	return strcmp(text, clean) == 0 ? text : arena_strndup(memory, clean, strlen(clean));
}

static int clean(struct draft *draft, struct arena *memory)
{
	char name[ATTRIBUTE_NAME_MAX + 1];
	char value[ATTRIBUTE_VALUE_MAX + 1];

	for (size_t i = 0; i < draft->nr; i++) {
		struct attribute *attribute = &draft->items[i].attribute;
		const struct taken taken = { draft, i };

		attribute_name_clean(draft->rules->preset, attribute->key, name);
		attribute_name_make_unique(name, is_taken, &taken);
		attribute_value_clean(attribute->value, value);
		attribute->key = keep(memory, attribute->key, name);
		attribute->value = keep(memory, attribute->value, value);
		if (!attribute->key || !attribute->value)
			return -ENOMEM;
	}
	return 0;
}

int attribute_rules_apply(const struct attribute_rules *rules, const struct profile *profile,
			  uint32_t resource, struct arena *memory,
			  struct group_attributes *ret_attributes, uint64_t *ret_nr_dropped)
{
	const struct source source = { rules, profile, resource };
	struct draft draft = { .rules = rules };

	if (rules->preset == ATTRIBUTES_PYROSCOPE)
		add_short_names(&draft, &source);
	add_own(&draft, &source);
	add_extra(&draft, &source);
	cut(&draft);

	int r = clean(&draft, memory);
	if (r < 0)
		return r;
	struct attribute *items = arena_alloc(memory, draft.nr * sizeof(*items));
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < draft.nr; i++)
		items[i] = draft.items[i].attribute;
	*ret_attributes = (struct group_attributes){ .items = items, .nr = draft.nr };
	*ret_nr_dropped = draft.nr_dropped;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/viewer_labels.h"

#include "base/array.h"
#include "base/hash.h"
#include "profile/sample_label.h"

#include <stdlib.h>
#include <string.h>

static void add_key(struct viewer_labels *labels, const char *word)
{
	for (size_t i = 0; i < labels->nr_keys; i++)
		if (strcmp(labels->keys[i].word, word) == 0)
			return;
	if (labels->nr_keys < VIEWER_LABELS_MAX)
		labels->keys[labels->nr_keys++] = label_key_of(word);
}

/* Adds the labels that users gave to pods, such as k8s.pod.label.app. */
static void add_pod_labels(struct viewer_labels *labels, const struct profile *profile)
{
	for (size_t i = 0; i < profile->nr_attributes; i++) {
		const char *key = profile_string(profile, profile->attributes[i].key);

		if (strstr(key, ".label.") || strstr(key, ".annotation."))
			add_key(labels, key);
	}
}

void viewer_labels_init(struct viewer_labels *labels, struct intern *strings,
			const struct view *view, const struct profile *profile,
			const struct profile *before)
{
	static const char *const usual[] = { "reason",	  "namespace", "workload", "pod",
					     "container", "node",      "host",	   "service",
					     "process",	  "comm",      "thread",   "pid",
					     "cpu" };

	*labels = (struct viewer_labels){ .strings = strings };
	for (size_t i = 0; i < array_len(usual); i++)
		add_key(labels, usual[i]);
	for (size_t i = 0; i < view->nr_groups; i++)
		add_key(labels, view->groups[i]);
	add_pod_labels(labels, profile);
	if (before)
		add_pod_labels(labels, before);
}

void viewer_labels_done(struct viewer_labels *labels)
{
	free(labels->values);
	htable_done(&labels->index);
}

/* Returns "" for a number that stands for "not known". */
static const char *value_of(const struct label_key *key, const struct profile *profile,
			    const struct profile_sample *sample, char number[LABEL_NUMBER_BYTES])
{
	if ((key->source == LABEL_PID && sample->pid == 0) ||
	    (key->source == LABEL_CGROUP && sample->cgroup_id == 0))
		return "";
	return sample_label(profile, sample, key, number);
}

static int find_set(const struct viewer_labels *labels, const uint32_t *values, uint32_t hash,
		    uint32_t *ret_set)
{
	struct htable_iter it = htable_lookup(&labels->index, hash);

	for (uint32_t i; htable_next(&it, &i);) {
		if (memcmp(labels->values + i * labels->nr_keys, values,
			   labels->nr_keys * sizeof(*values)) == 0) {
			*ret_set = i;
			return 0;
		}
	}
	return -ENOENT;
}

static int add_set(struct viewer_labels *labels, const uint32_t *values, uint32_t hash,
		   uint32_t *ret_set)
{
	size_t first = labels->nr_sets * labels->nr_keys;

	int r = array_grow(labels->values, labels->cap_values, first + labels->nr_keys, UINT32_MAX);
	if (r == 0)
		r = htable_add(&labels->index, hash, (uint32_t)labels->nr_sets);
	if (r < 0)
		return r;
	memcpy(labels->values + first, values, labels->nr_keys * sizeof(*values));
	*ret_set = (uint32_t)labels->nr_sets++;
	return 0;
}

int viewer_labels_get(struct viewer_labels *labels, const struct profile *profile,
		      const struct profile_sample *sample, uint32_t *ret_set)
{
	uint32_t values[VIEWER_LABELS_MAX];
	char number[LABEL_NUMBER_BYTES];

	for (size_t i = 0; i < labels->nr_keys; i++) {
		const char *value = value_of(&labels->keys[i], profile, sample, number);

		int r = intern_add(labels->strings, value, &values[i]);
		if (r < 0)
			return r;
	}
	uint32_t hash = hash_bytes(values, labels->nr_keys * sizeof(*values));
	int r = find_set(labels, values, hash, ret_set);
	return r == -ENOENT ? add_set(labels, values, hash, ret_set) : r;
}

bool viewer_labels_has(const struct viewer_labels *labels, size_t key)
{
	for (size_t i = 0; i < labels->nr_sets; i++)
		if (labels->values[i * labels->nr_keys + key])
			return true;
	return false;
}

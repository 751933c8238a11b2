/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_subject.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/printable.h"
#include "base/text.h"
#include "store/selector.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SUBJECTS 4096

/* The texts of a subject. */
struct description {
	char name[EVENT_SUBJECT_BYTES];
	char selector[EVENT_SELECTOR_BYTES];
};

static void subject_done(struct event_subject *subject)
{
	event_signal_done(&subject->signal);
	free(subject->name);
	free(subject->selector);
	free(subject->contributor);
	free(subject->service);
}

void event_subjects_done(struct event_subjects *subjects)
{
	for (size_t i = 0; i < subjects->nr; i++)
		subject_done(&subjects->items[i]);
	free(subjects->items);
	free(subjects->of_labels);
	htable_done(&subjects->index);
	*subjects = (struct event_subjects){ 0 };
}

static uint32_t hash_of(enum event_kind kind, const char *name)
{
	return hash_bytes(name, strlen(name)) + (uint32_t)kind;
}

static bool find(const struct event_subjects *subjects, enum event_kind kind, const char *name,
		 size_t *ret_index)
{
	struct htable_iter it = htable_lookup(&subjects->index, hash_of(kind, name));

	for (uint32_t row; htable_next(&it, &row);) {
		const struct event_subject *subject = &subjects->items[row];

		if (subject->kind == kind && strcmp(subject->name, name) == 0) {
			*ret_index = row;
			return true;
		}
	}
	return false;
}

int event_subjects_add(struct event_subjects *subjects, enum event_kind kind, const char *name,
		       const char *selector, const struct event_subject_rule *rule,
		       size_t *ret_index)
{
	struct event_subject subject = { .kind = kind };

	if (find(subjects, kind, name, ret_index))
		return 0;
	int r = array_grow(subjects->items, subjects->cap, subjects->nr + 1, MAX_SUBJECTS);
	if (r == 0)
		r = text_copy(name, &subject.name);
	if (r == 0)
		r = text_copy(selector, &subject.selector);
	if (r == 0)
		r = htable_add(&subjects->index, hash_of(kind, name), (uint32_t)subjects->nr);
	if (r < 0) {
		subject_done(&subject);
		return r;
	}
	event_signal_init(&subject.signal, rule->step, rule->floor, rule->nr_zeros);
	*ret_index = subjects->nr;
	subjects->items[subjects->nr++] = subject;
	return 0;
}

/* Texts that are too long are truncated: they name the same thing then, if it has the same
 * beginning. */
static void describe_pod(const char *namespace, const char *pod, struct description *ret)
{
	if (!*namespace) { /* only its UID is known */
		snprintf(ret->name, sizeof(ret->name), "pod %s", pod);
		snprintf(ret->selector, sizeof(ret->selector), "{pod=\"%s\"}", pod);
		return;
	}
	snprintf(ret->name, sizeof(ret->name), "pod %s/%s", namespace, pod);
	snprintf(ret->selector, sizeof(ret->selector), "{namespace=\"%s\",pod=\"%s\"}", namespace,
		 pod);
}

/* Names of processes and services may be any bytes. */
static int describe_other(const char *noun, const char *key, const char *value,
			  struct description *ret)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(EVENT_SELECTOR_BYTES - 1);

	if (!*value)
		return -ENOENT;
	int len = snprintf(ret->name, sizeof(ret->name), "%s ", noun);
	printable_copy(ret->name + len, sizeof(ret->name) - (size_t)len, value);
	strbuf_appendf(&text, "{%s=\"", key);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			strbuf_append_char(&text, '\\');
		strbuf_append_char(&text, *value);
	}
	strbuf_append_str(&text, "\"}");
	int r = strbuf_error(&text);
	if (r == -ENOSPC) /* it cannot be selected */
		strbuf_clear(&text);
	snprintf(ret->selector, sizeof(ret->selector), "%s", strbuf_str(&text));
	return r == -ENOMEM ? r : 0;
}

static const char *value_of(const struct dict *dict, uint32_t labels, const char *name,
			    char number[static LABEL_NUMBER_BYTES])
{
	const struct label_key key = label_key_of(name);

	return label_value(dict, labels, &key, number);
}

/* Returns whether the label set has a pod. */
static bool find_pod(const struct dict *dict, uint32_t labels, struct description *ret)
{
	char unused[LABEL_NUMBER_BYTES];
	const char *pod = value_of(dict, labels, "pod", unused);

	if (!*pod)
		return false;
	describe_pod(value_of(dict, labels, "namespace", unused), pod, ret);
	return true;
}

/* Flamelet and its workers are one process here: they differ by name only. */
static bool is_own(const struct dict *dict, uint32_t labels)
{
	char unused[LABEL_NUMBER_BYTES];

	return strcmp(value_of(dict, labels, "process", unused), EVENT_OWN_PROGRAM) == 0;
}

static int describe_process(const struct dict *dict, uint32_t labels, struct description *ret)
{
	char unused[LABEL_NUMBER_BYTES];

	if (is_own(dict, labels))
		return describe_other("process", "process", EVENT_OWN_PROGRAM, ret);
	return describe_other("process", "comm", value_of(dict, labels, "comm", unused), ret);
}

/* Notes in which service a process runs. Flamelet's own events are apart from all others. */
static int note_service(const struct dict *dict, uint32_t labels, struct event_subject *subject)
{
	char unused[LABEL_NUMBER_BYTES];

	if (subject->service || is_own(dict, labels))
		return 0;
	return text_copy(value_of(dict, labels, "service", unused), &subject->service);
}

static int look_up_group(struct event_subjects *subjects, const struct dict *dict, uint32_t labels,
			 const struct event_subject_rule *rule, size_t *ret_index)
{
	struct description description;
	bool has_pod = find_pod(dict, labels, &description);
	enum event_kind kind = has_pod ? EVENT_POD_CPU : EVENT_PROCESS_CPU;
	size_t index;

	int r = has_pod ? 0 : describe_process(dict, labels, &description);
	if (r == 0)
		r = event_subjects_add(subjects, kind, description.name, description.selector, rule,
				       &index);
	if (r == 0 && !has_pod)
		r = note_service(dict, labels, &subjects->items[index]);
	if (r == 0)
		*ret_index = index;
	return r;
}

void event_subjects_set_dict(struct event_subjects *subjects, uint64_t generation)
{
	if (generation != subjects->generation)
		subjects->nr_of_labels = 0;
	subjects->generation = generation;
}

static int make_room_for(struct event_subjects *subjects, uint32_t labels)
{
	size_t nr = (size_t)labels + 1;

	if (nr <= subjects->nr_of_labels)
		return 0;
	int r = array_grow(subjects->of_labels, subjects->cap_of_labels, nr, UINT32_MAX);
	if (r < 0)
		return r;
	memset(subjects->of_labels + subjects->nr_of_labels, 0,
	       (nr - subjects->nr_of_labels) * sizeof(*subjects->of_labels));
	subjects->nr_of_labels = nr;
	return 0;
}

int event_subjects_of_group(struct event_subjects *subjects, const struct dict *dict,
			    uint32_t labels, const struct event_subject_rule *rule,
			    size_t *ret_index)
{
	int r = make_room_for(subjects, labels);

	if (r < 0)
		return r;
	if (subjects->of_labels[labels] == 0) {
		r = look_up_group(subjects, dict, labels, rule, ret_index);
		if (r < 0)
			return r;
		subjects->of_labels[labels] = (uint32_t)*ret_index + 1;
	}
	*ret_index = subjects->of_labels[labels] - 1;
	return 0;
}

int event_subjects_of_limit(struct event_subjects *subjects, const struct dict *dict,
			    uint32_t labels, const struct event_subject_rule *rule,
			    size_t *ret_index)
{
	char number[LABEL_NUMBER_BYTES];
	struct description description;
	int r = 0;

	if (!find_pod(dict, labels, &description)) {
		r = describe_other("service", "service", value_of(dict, labels, "service", number),
				   &description);
		if (r == -ENOENT)
			r = describe_other("cgroup", "cgroup",
					   value_of(dict, labels, "cgroup", number), &description);
	}
	return r < 0 ? r
		     : event_subjects_add(subjects, EVENT_THROTTLING, description.name,
					  description.selector, rule, ret_index);
}

void event_subjects_forget(struct event_subjects *subjects, size_t nr_first)
{
	size_t nr = nr_first;

	for (size_t i = nr_first; i < subjects->nr; i++) {
		struct event_subject *subject = &subjects->items[i];
		uint32_t hash = hash_of(subject->kind, subject->name);

		htable_remove(&subjects->index, hash, (uint32_t)i);
		/* The memory of what was removed is there for the addition. */
		if (event_signal_is_idle(&subject->signal) ||
		    htable_add(&subjects->index, hash, (uint32_t)nr) < 0)
			subject_done(subject);
		else
			subjects->items[nr++] = *subject;
	}
	if (nr < subjects->nr)
		subjects->nr_of_labels = 0;
	subjects->nr = nr;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles are built from the samples one after the other. The elements of a sample are
 * translated by pprof_translator.c. */
#include "profile/pprof_reader.h"

#include "base/gzip.h"
#include "profile/pprof_fields.h"
#include "profile/pprof_labels.h"
#include "profile/pprof_plan.h"
#include "profile/pprof_translator.h"

#include <inttypes.h>
#include <stdlib.h>

/* All labels that are written for a sample, including its numbers, can be read again. */
#define MAX_ATTRIBUTES (PPROF_MAX_LABELS - PPROF_LABEL_REQUEST)

struct reading {
	struct strbuf unpacked;
	struct pprof_message message;
	struct pprof_plans plans;
	size_t max_bytes; /* of a profile */
	/* Owned; by string: enum pprof_label + 1 of labels of that name, 0: not asked for yet */
	uint8_t *label_kinds;
	struct pprof_sample sample; /* this and what follows: scratch */
	uint32_t stack[PPROF_MAX_FRAMES + 1]; /* elements, then new numbers of locations */
	struct attribute attributes[MAX_ATTRIBUTES];
	size_t nr_attributes;
};

static void reading_free(struct reading *reading)
{
	if (!reading)
		return;
	strbuf_done(&reading->unpacked);
	pprof_message_done(&reading->message);
	free(reading->label_kinds);
	free(reading);
}
DEFINE_FREEP(struct reading, reading_free)

void pprof_profiles_done(struct pprof_profiles *profiles)
{
	for (size_t i = 0; i < PROFILE_NR_TYPES; i++)
		profile_unref(profiles->of[i]);
}

static size_t nr_frames_kept(const struct pprof_sample *sample)
{
	return sample->nr_locations < PPROF_MAX_FRAMES ? sample->nr_locations : PPROF_MAX_FRAMES;
}

/* Finds the elements of the sample's locations, even if its count is 0. */
static int find_locations(struct reading *reading, size_t number)
{
	const struct pprof_sample *sample = &reading->sample;

	for (size_t i = 0; i < nr_frames_kept(sample); i++)
		if (pprof_find(&reading->message.locations, sample->locations[i],
			       &reading->stack[i]) < 0)
			return pprof_fail(&reading->message, -EBADMSG,
					  "sample %zu: location %" PRIu64 " is not in the table",
					  number + 1, sample->locations[i]);
	return 0;
}

static int add_stack(struct reading *reading, struct pprof_translator *translator,
		     uint32_t *ret_stack)
{
	size_t nr = nr_frames_kept(&reading->sample);

	for (size_t i = 0; i < nr; i++) {
		int r = pprof_translate_location(translator, reading->stack[i], &reading->stack[i]);
		if (r < 0)
			return r;
	}
	if (nr < reading->sample.nr_locations) {
		int r = pprof_translator_add_remark(translator, PPROF_NAME_OF_TRUNCATED_STACK,
						    &reading->stack[nr++]);
		if (r < 0)
			return r;
	}
	return builder_add_stack(translator->builder, reading->stack, nr, ret_stack);
}

static int get_label_kind(struct reading *reading, struct pprof_translator *translator,
			  uint64_t key, enum pprof_label *ret_kind)
{
	if (key >= reading->message.strings.nr || !reading->label_kinds[key]) {
		int r = pprof_get_string(&reading->message, key, &translator->text);
		if (r < 0)
			return r;
		reading->label_kinds[key] =
			(uint8_t)(pprof_label_find(strbuf_str(&translator->text)) + 1);
	}
	*ret_kind = reading->label_kinds[key] - 1;
	return 0;
}

/* Of several labels for the same attribute, the first one is used. */
static int add_attribute(struct reading *reading, struct pprof_translator *translator,
			 const struct pprof_label_pair *label)
{
	const struct profile *p = builder_peek(translator->builder);
	uint32_t key, value;
	int r;

	if (label->key == 0 || label->text == 0)
		return 0;
	if ((r = pprof_translate_attribute(translator, label->key, &key)) < 0 ||
	    (r = pprof_translate_string(translator, label->text, &value)) < 0)
		return r;

	const struct attribute added = { profile_string(p, key), profile_string(p, value) };
	for (size_t i = 0; i < reading->nr_attributes; i++)
		if (reading->attributes[i].key == added.key)
			return 0;
	if (reading->nr_attributes == MAX_ATTRIBUTES)
		return pprof_fail(&reading->message, -EBADMSG,
				  "a sample has more than %d text labels", MAX_ATTRIBUTES);
	reading->attributes[reading->nr_attributes++] = added;
	return 0;
}

static uint32_t number_of(const struct pprof_label_pair *label)
{
	return label->text == 0 && label->number <= UINT32_MAX ? (uint32_t)label->number : 0;
}

/* Other programs may use the word for something else. */
static int take_reason(struct reading *reading, struct pprof_translator *translator,
		       const struct pprof_label_pair *label, struct profile_sample *sample)
{
	int r = pprof_get_string(&reading->message, label->text, &translator->text);
	if (r < 0)
		return r;
	enum wait_reason reason = wait_reason_from_word(strbuf_str(&translator->text));

	if (reason == REASON_NR)
		return add_attribute(reading, translator, label);
	sample->reason = reason;
	return 0;
}

static int take_label(struct reading *reading, struct pprof_translator *translator,
		      const struct pprof_label_pair *label, struct profile_sample *sample)
{
	enum pprof_label kind;

	int r = get_label_kind(reading, translator, label->key, &kind);
	if (r < 0)
		return r;
	switch (kind) {
	case PPROF_LABEL_COMM:
		return pprof_translate_string(translator, label->text, &sample->process_comm);
	case PPROF_LABEL_THREAD:
		return pprof_translate_string(translator, label->text, &sample->thread_comm);
	case PPROF_LABEL_PID:
		sample->pid = number_of(label);
		return 0;
	case PPROF_LABEL_TID:
		sample->tid = number_of(label);
		return 0;
	case PPROF_LABEL_CPU:
		sample->cpu = number_of(label);
		return 0;
	case PPROF_LABEL_CGROUP_ID:
		sample->cgroup_id = label->text ? 0 : label->number;
		return 0;
	case PPROF_LABEL_REASON:
		return take_reason(reading, translator, label, sample);
	case PPROF_LABEL_REQUEST:
		return 0;
	case PPROF_LABEL_ATTRIBUTE:
		return add_attribute(reading, translator, label);
	}
	return 0;
}

static int take_labels(struct reading *reading, struct pprof_translator *translator,
		       struct profile_sample *sample)
{
	reading->nr_attributes = 0;
	for (size_t i = 0; i < reading->sample.nr_labels; i++) {
		int r = take_label(reading, translator, &reading->sample.labels[i], sample);
		if (r < 0)
			return r;
	}
	return builder_add_resource(translator->builder, reading->attributes,
				    reading->nr_attributes, &sample->resource);
}

static int add_sample(struct reading *reading, struct pprof_translator *translator, size_t number,
		      const struct pprof_plan *plan)
{
	struct profile_sample sample = { .cpu = PROFILE_CPU_UNKNOWN };
	int r;

	if ((r = pprof_get_sample(&reading->message, number, &reading->sample)) < 0 ||
	    (r = find_locations(reading, number)) < 0)
		return r;
	sample.count = pprof_count(plan, &reading->sample);
	if (sample.count == 0)
		return 0;
	if ((r = add_stack(reading, translator, &sample.stack)) < 0 ||
	    (r = take_labels(reading, translator, &sample)) < 0)
		return r;
	return builder_add_sample(translator->builder, &sample);
}

static int add_samples(struct reading *reading, struct builder *builder,
		       const struct pprof_plan *plan, size_t *nr_negative)
{
	_cleanup_(pprof_translator_done) struct pprof_translator translator;

	int r = pprof_translator_init(&translator, &reading->message, builder);
	for (size_t i = 0; r == 0 && i < reading->message.samples.nr; i++) {
		r = add_sample(reading, &translator, i, plan);
		if (r == 0 && reading->sample.values[plan->column] > INT64_MAX)
			(*nr_negative)++;
	}
	return r;
}

static int read_profile(struct reading *reading, enum profile_type type,
			struct pprof_profiles *profiles)
{
	const struct pprof_plan *plan = &reading->plans.of[type];
	_cleanup_(builder_freep) struct builder *builder = NULL;

	if (!plan->is_there)
		return 0;
	int r = builder_new(reading->max_bytes, &builder);
	if (r < 0)
		return r;
	r = add_samples(reading, builder, plan, &profiles->nr_values_negative);
	if (r < 0)
		return r;
	builder_set_type(builder, type);
	builder_set_time(builder, reading->message.time_unix_ns, reading->message.duration_ns,
			 plan->period);
	profiles->of[type] = builder_seal(take_ptr(builder));
	return 0;
}

static int read_profiles(struct reading *reading, struct pprof_profiles *ret_profiles)
{
	_cleanup_(pprof_profiles_done) struct pprof_profiles profiles = { 0 };

	int r = pprof_plan(&reading->message, &reading->sample, &reading->plans);
	if (r < 0)
		return r;
	reading->label_kinds = calloc(reading->message.strings.nr, sizeof(*reading->label_kinds));
	if (!reading->label_kinds)
		return -ENOMEM;
	profiles.nr_types_unknown = reading->plans.nr_unknown;
	for (enum profile_type type = 0; r == 0 && type < PROFILE_NR_TYPES; type++)
		r = read_profile(reading, type, &profiles);
	if (r < 0)
		return r;
	*ret_profiles = profiles;
	profiles = (struct pprof_profiles){ 0 };
	return 0;
}

/* Unpacks a gzip'ed message. */
static int unpack(struct reading *reading, const void **bytes, size_t *len)
{
	if (!gzip_is(*bytes, *len))
		return *len > reading->unpacked.max ? -ENOSPC : 0;
	gunzip_append(&reading->unpacked, *bytes, *len);
	*bytes = reading->unpacked.data;
	*len = reading->unpacked.len;
	return strbuf_error(&reading->unpacked);
}

static int read_message(struct reading *reading, const void *bytes, size_t len,
			struct pprof_profiles *ret_profiles)
{
	struct strbuf *reason = reading->message.reason;

	int r = unpack(reading, &bytes, &len);
	if (r == -EBADMSG)
		return pprof_fail(&reading->message, r, "the gzip data is damaged");
	if (r == -ENOSPC)
		return pprof_fail(&reading->message, -EFBIG, "it unpacks to more than %zu bytes",
				  reading->unpacked.max);
	if (r == 0)
		r = pprof_message_init(&reading->message, bytes, len, reason);
	if (r == 0)
		r = read_profiles(reading, ret_profiles);
	if (r == -ENOSPC)
		return pprof_fail(&reading->message, -EFBIG,
				  "its profile takes more than %zu bytes", reading->max_bytes);
	return r == -ENOMEM ? pprof_fail(&reading->message, r, "no memory") : r;
}

int pprof_read(const void *bytes, size_t len, size_t max_bytes, struct pprof_profiles *ret_profiles,
	       struct strbuf *message)
{
	_cleanup_(reading_freep) struct reading *reading = calloc(1, sizeof(*reading));

	if (!reading)
		return -ENOMEM;
	reading->unpacked = strbuf_with_max(max_bytes);
	reading->message.reason = message;
	reading->max_bytes = max_bytes < SIZE_MAX / PPROF_ROOM_FACTOR
				     ? max_bytes * PPROF_ROOM_FACTOR
				     : SIZE_MAX;
	return read_message(reading, bytes, len, ret_profiles);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profile by profile into one buffer, and then the dictionary that they share.
 *
 * A point is a sample as it is sent. It distinguishes processes and threads only by their kept
 * attributes, so several samples often become one point and their values are added. The points of a
 * profile are collected, then written, before those of the next:
 *
 *	samples of group 0 ─▶ points ─▶ ResourceProfiles ┐
 *	samples of group 2 ─▶ points ─▶ ResourceProfiles ├▶ out
 *	                         └─▶ translator ─▶ ProfilesDictionary ┘
 *
 * Resource attributes are written in place and not by number into the string table: Pyroscope does
 * not resolve the numbers and would lose all labels.
 *
 * A sample has one value and no time stamps. In CPU profiles the value is a count, and the period
 * says how much CPU time one count stands for. Pyroscope turns this form into its own CPU profile
 * type. If time stamps are requested, a sample has one for each count and no value, because
 * Pyroscope refuses a sample that has several time stamps and a value. */
#include "otlp/encode/encode.h"

#include "base/array.h"
#include "base/gzip.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/pb.h"
#include "base/random.h"
#include "otlp/encode/converted_size.h"
#include "otlp/encode/otlp_fields.h"
#include "otlp/encode/packed.h"
#include "otlp/encode/point_times.h"
#include "otlp/encode/sample_group.h"
#include "otlp/encode/translator.h"
#include "profile/pprof.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_ID_BYTES 16
#define TIME_BYTES 8
#define SCHEMA_URL "https://opentelemetry.io/schemas/1.44.0"
#define PPROF_MAX_BYTES ((size_t)64 << 20) /* before compression */

struct point_key {
	uint32_t group;
	uint32_t stack;
	uint32_t attributes[TRANSLATOR_NR_ATTRIBUTES]; /* unused ones are 0 */
};

static_assert(sizeof(struct point_key) == 36, "gap in struct point_key");

struct point {
	struct point_key key;
	uint32_t profile_stack; /* one of the stacks that became the key's stack */
	uint64_t value;
};

struct value_type {
	uint32_t type; /* strings of the dictionary */
	uint32_t unit;
};

struct encoder {
	const struct encode_job *job; /* borrowed */
	struct strbuf *out; /* borrowed; keeps the first error */
	struct translator translator;
	struct converted_size size;
	struct value_type sample_type;
	struct value_type period_type;
	uint64_t period;
	struct point *points; /* owned */
	size_t nr_points, cap_points;
	struct htable point_index;
	bool has_times; /* the samples of the present profile */
	struct point_times times;
	struct strbuf pprof; /* scratch: a message, and compressed */
	struct strbuf payload;
	struct encode_result result;
};

static void encoder_done(struct encoder *encoder)
{
	translator_done(&encoder->translator);
	converted_size_done(&encoder->size);
	free(encoder->points);
	htable_done(&encoder->point_index);
	point_times_done(&encoder->times);
	strbuf_done(&encoder->pprof);
	strbuf_done(&encoder->payload);
}

static struct value_type add_value_type(struct encoder *encoder, const char *type, const char *unit)
{
	return (struct value_type){
		.type = translator_add_text(&encoder->translator, type),
		.unit = translator_add_text(&encoder->translator, unit),
	};
}

/* A type without a period has neither a type of it nor a value. */
static void choose_types(struct encoder *encoder)
{
	const struct profile *profile = encoder->job->profile;
	const struct profile_type_names *names = profile_type_names(profile->type);

	encoder->sample_type = add_value_type(encoder, names->sample_type, names->sample_unit);
	encoder->period_type = add_value_type(encoder, names->period_type, names->period_unit);
	encoder->period = profile_period(profile);
}

static int encoder_init(struct encoder *encoder)
{
	encoder->pprof = strbuf_with_max(PPROF_MAX_BYTES);
	encoder->payload = strbuf_with_max(2 * PPROF_MAX_BYTES);
	int r = translator_init(&encoder->translator, encoder->job, encoder->out->max);
	if (r < 0)
		return r;
	choose_types(encoder);
	return converted_size_init(&encoder->size, &encoder->translator);
}

static int add_point(struct encoder *encoder, const struct point *point, uint32_t *ret_number)
{
	uint32_t hash = hash_bytes(&point->key, sizeof(point->key));

	struct htable_iter it = htable_lookup(&encoder->point_index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (memcmp(&encoder->points[i].key, &point->key, sizeof(point->key)) == 0) {
			encoder->points[i].value += point->value;
			*ret_number = i;
			return 0;
		}
	}

	int r = array_grow(encoder->points, encoder->cap_points, encoder->nr_points + 1,
			   UINT32_MAX - 1);
	if (r == 0)
		r = htable_add(&encoder->point_index, hash, (uint32_t)encoder->nr_points);
	if (r < 0)
		return r;
	encoder->points[encoder->nr_points] = *point;
	*ret_number = (uint32_t)encoder->nr_points++;
	return 0;
}

/* Returns whether all samples of a group have a time. */
static bool know_times(const struct encode_job *job, const struct sample_group *group)
{
	bool has_times = job->with_times && job->profile->type == PROFILE_CPU;

	for (size_t i = 0; has_times && i < group->nr_samples; i++)
		has_times = job->profile->samples[group->samples[i]].time_ns != 0;
	return has_times;
}

static int add_times(struct encoder *encoder, uint32_t point, const struct profile_sample *sample)
{
	if (!encoder->has_times)
		return 0;
	return point_times_add(&encoder->times, point, sample->time_ns, sample->count);
}

static int collect_points(struct encoder *encoder, const struct sample_group *group)
{
	struct translator *translator = &encoder->translator;
	uint32_t number_of_point;

	point_times_clear(&encoder->times);
	encoder->has_times = know_times(encoder->job, group);
	for (size_t i = 0; i < group->nr_samples; i++) {
		uint32_t number = group->samples[i];
		const struct profile_sample *sample = &encoder->job->profile->samples[number];
		struct point point = {
			.key.group = group->number,
			.profile_stack = sample->stack,
			.value = sample->count,
		};

		point.key.stack = translator_add_stack(translator, sample->stack);
		translator_add_attributes(translator, &encoder->job->attributes->samples[number],
					  point.key.attributes);
		int r = add_point(encoder, &point, &number_of_point);
		if (r == 0)
			r = add_times(encoder, number_of_point, sample);
		if (r < 0)
			return r;
		encoder->result.nr_taken += profile_sample_nr_taken(encoder->job->profile, sample);
	}
	point_times_sort(&encoder->times);
	return dictionary_error(&translator->dictionary);
}

static void put_attribute(struct strbuf *out, const struct attribute *attribute)
{
	size_t value_len = packed_field_len(strlen(attribute->value));

	packed_begin(out, RESOURCE_ATTRIBUTES,
		     packed_field_len(strlen(attribute->key)) + packed_field_len(value_len));
	pb_string(out, KEY_VALUE_KEY, attribute->key);
	packed_begin(out, KEY_VALUE_VALUE, value_len);
	pb_string(out, ANY_VALUE_STRING, attribute->value);
}

static void put_number(struct strbuf *out, const char *key, uint64_t number)
{
	size_t value_len = 1 + packed_varint_len(number);

	packed_begin(out, RESOURCE_ATTRIBUTES,
		     packed_field_len(strlen(key)) + packed_field_len(value_len));
	pb_string(out, KEY_VALUE_KEY, key);
	packed_begin(out, KEY_VALUE_VALUE, value_len);
	pb_int_always(out, ANY_VALUE_INT, (int64_t)number);
}

static void put_resource(struct strbuf *out, const struct group_attributes *attributes)
{
	size_t begin = pb_begin(out, RESOURCE_PROFILES_RESOURCE);

	for (size_t i = 0; i < attributes->nr; i++)
		put_attribute(out, &attributes->items[i]);
	if (attributes->pid)
		put_number(out, "process.pid", attributes->pid);
	pb_end(out, begin);
}

static void put_scope(struct strbuf *out)
{
	size_t begin = pb_begin(out, SCOPE_PROFILES_SCOPE);

	pb_string(out, SCOPE_NAME, "flamelet");
	pb_string(out, SCOPE_VERSION, FLAMELET_VERSION);
	pb_end(out, begin);
}

static void put_value_type(struct strbuf *out, uint32_t field, struct value_type value_type)
{
	packed_begin(out, field,
		     packed_uint_len(value_type.type) + packed_uint_len(value_type.unit));
	pb_uint(out, VALUE_TYPE_TYPE, value_type.type);
	pb_uint(out, VALUE_TYPE_UNIT, value_type.unit);
}

static size_t count_attributes(const struct point *point)
{
	size_t nr = 0;

	while (nr < TRANSLATOR_NR_ATTRIBUTES && point->key.attributes[nr])
		nr++;
	return nr;
}

/* Writes the count of a point, or its timestamps. */
static void put_counts(struct encoder *encoder, const struct point *point,
		       const struct point_time *times, size_t nr_times)
{
	if (!encoder->has_times) {
		packed_append_one(encoder->out, SAMPLE_VALUES, point->value);
		return;
	}
	packed_begin(encoder->out, SAMPLE_TIMESTAMPS, nr_times * TIME_BYTES);
	for (size_t i = 0; i < nr_times; i++) {
		uint64_t time_ns = htole64(times[i].unix_ns);

		strbuf_append(encoder->out, &time_ns, TIME_BYTES);
	}
}

static void put_point(struct encoder *encoder, uint32_t number)
{
	struct strbuf *out = encoder->out;
	const struct point *point = &encoder->points[number];
	const uint32_t *attributes = point->key.attributes;
	size_t nr = count_attributes(point), nr_times;
	const struct point_time *times = point_times_take(&encoder->times, number, &nr_times);
	size_t len = packed_uint_len(point->key.stack) +
		     packed_field_len(encoder->has_times ? nr_times * TIME_BYTES
							 : packed_varint_len(point->value));

	if (nr > 0)
		len += packed_field_len(packed_values_len(attributes, nr));
	packed_begin(out, PROFILE_SAMPLES, len);
	pb_uint(out, SAMPLE_STACK_INDEX, point->key.stack);
	packed_append(out, SAMPLE_ATTRIBUTE_INDICES, attributes, nr);
	put_counts(encoder, point, times, nr_times);
	converted_size_add(&encoder->size,
			   &(struct converted_sample){
				   .stack = point->profile_stack,
				   .attributes = attributes,
				   .nr_attributes = nr,
				   .value = point->value * (encoder->period ? encoder->period : 1),
			   });
}

/* The id identifies a profile that arrives twice. It is omitted without random numbers. */
static void put_profile_id(struct strbuf *out)
{
	unsigned char id[PROFILE_ID_BYTES];

	if (random_bytes(id, sizeof(id)) == 0)
		pb_bytes(out, PROFILE_PROFILE_ID, id, sizeof(id));
}

static void put_payload(struct encoder *encoder, const struct sample_group *group)
{
	struct strbuf *out = encoder->out;
	const struct pprof_part part = {
		.samples = group->samples,
		.nr_samples = group->nr_samples,
	};

	strbuf_clear(&encoder->pprof);
	strbuf_clear(&encoder->payload);
	int r = pprof_encode(encoder->job->profile, &part, NULL, &encoder->pprof);
	if (r == 0) {
		gzip_append(&encoder->payload, encoder->pprof.data, encoder->pprof.len);
		r = strbuf_error(&encoder->payload);
	}
	strbuf_fail(out, r);
	pb_string(out, PROFILE_ORIGINAL_PAYLOAD_FORMAT, "pprof");
	pb_bytes(out, PROFILE_ORIGINAL_PAYLOAD, encoder->payload.data, encoder->payload.len);
}

static void put_profile(struct encoder *encoder, const struct sample_group *group,
			size_t first_point)
{
	const struct profile *profile = encoder->job->profile;
	struct strbuf *out = encoder->out;
	size_t begin = pb_begin(out, SCOPE_PROFILES_PROFILES);

	put_value_type(out, PROFILE_SAMPLE_TYPE, encoder->sample_type);
	for (size_t i = first_point; i < encoder->nr_points; i++)
		put_point(encoder, (uint32_t)i);
	pb_fixed64(out, PROFILE_TIME_UNIX_NANO, profile->time_unix_ns);
	pb_uint(out, PROFILE_DURATION_NANO, profile->duration_ns);
	if (encoder->period_type.type)
		put_value_type(out, PROFILE_PERIOD_TYPE, encoder->period_type);
	pb_uint(out, PROFILE_PERIOD, encoder->period);
	put_profile_id(out);
	if (encoder->job->with_pprof)
		put_payload(encoder, group);
	pb_end(out, begin);
}

static void put_resource_profiles(struct encoder *encoder, const struct sample_group *group,
				  size_t first_point)
{
	struct strbuf *out = encoder->out;
	size_t begin = pb_begin(out, EXPORT_REQUEST_RESOURCE_PROFILES);

	put_resource(out, &encoder->job->attributes->groups[group->number]);
	size_t scope = pb_begin(out, RESOURCE_PROFILES_SCOPE_PROFILES);
	put_scope(out);
	put_profile(encoder, group, first_point);
	pb_end(out, scope);
	pb_string(out, RESOURCE_PROFILES_SCHEMA_URL, SCHEMA_URL);
	pb_end(out, begin);
}

static int put_group(struct encoder *encoder, const struct sample_group *group)
{
	size_t first_point = encoder->nr_points;

	int r = collect_points(encoder, group);
	if (r == 0)
		r = converted_size_begin(&encoder->size,
					 &encoder->job->attributes->groups[group->number]);
	if (r < 0)
		return r;
	put_resource_profiles(encoder, group, first_point);
	encoder->result.nr_profiles++;
	return strbuf_error(encoder->out);
}

static void put_dictionary(struct encoder *encoder)
{
	size_t begin = pb_begin(encoder->out, EXPORT_REQUEST_DICTIONARY);

	dictionary_encode(&encoder->translator.dictionary, encoder->out);
	pb_end(encoder->out, begin);
}

int otlp_encode(const struct encode_job *job, struct strbuf *out, struct encode_result *ret_result)
{
	_cleanup_(encoder_done) struct encoder encoder = { .job = job, .out = out };

	struct sample_group group = { 0 };

	int r = encoder_init(&encoder);
	while (r == 0 && sample_group_next(job, &group))
		r = put_group(&encoder, &group);
	if (r == 0 && encoder.result.nr_profiles > 0)
		put_dictionary(&encoder);
	strbuf_fail(out, r);
	if (strbuf_error(out) < 0)
		return strbuf_error(out);
	encoder.result.nr_samples = encoder.nr_points;
	encoder.result.cost_bytes = encoder.size.bytes;
	*ret_result = encoder.result;
	return 0;
}

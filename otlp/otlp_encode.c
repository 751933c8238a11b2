/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what will be sent, then writes it in one pass.
 *
 * A point is a sample as it leaves. Processes and threads differ in it only by thread name, so several
 * samples often make one point and their counts are added. The points of one resource form a list, in the
 * order of their first sample, and become one ResourceProfiles:
 *
 *	samples ──▶ points ──▶ resource 0: ● ─▶ ●
 *	                       resource 1: (nothing, left out)
 *	                       resource 2: ● ─▶ ● ─▶ ●
 *
 * Resource attributes are written in place and not by number into the string table: Pyroscope does not
 * resolve the numbers and would lose all labels.
 *
 * Values are counts, one a sample without time stamps, and the period tells what a count is worth. This is
 * the form that Pyroscope turns into its own CPU profile type. */
#include "otlp/otlp_encode.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/pb.h"
#include "otlp/otlp_fields.h"
#include "otlp/packed.h"
#include "otlp/translator.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define PROFILE_ID_BYTES 16
#define SCHEMA_URL "https://opentelemetry.io/schemas/1.44.0"

struct point_key {
	uint32_t resource;
	uint32_t stack;
	uint32_t attributes[TRANSLATOR_NR_ATTRIBUTES]; /* unused ones are 0 */
};

struct point {
	struct point_key key;
	uint64_t value;
	uint32_t next_plus_1; /* of the same resource */
};

struct point_list {
	uint32_t first_plus_1;
	uint32_t last;
};

struct value_type {
	uint32_t type; /* strings of the dictionary */
	uint32_t unit;
};

struct encoder {
	const struct profile *profile; /* borrowed */
	struct strbuf *out; /* borrowed */
	struct translator translator;
	struct value_type sample_type;
	struct value_type period_type;
	struct point *points; /* owned */
	size_t nr_points, cap_points;
	struct htable point_index;
	struct point_list *resources; /* owned; points by the profile's resources */
	struct strbuf message; /* scratch */
};

static void encoder_done(struct encoder *encoder)
{
	translator_done(&encoder->translator);
	free(encoder->points);
	htable_done(&encoder->point_index);
	free(encoder->resources);
	strbuf_done(&encoder->message);
}

static struct value_type add_value_type(struct encoder *encoder, const char *type, const char *unit)
{
	return (struct value_type){
		.type = translator_add_text(&encoder->translator, type),
		.unit = translator_add_text(&encoder->translator, unit),
	};
}

static int encoder_init(struct encoder *encoder, const struct profile *profile, struct strbuf *out)
{
	encoder->profile = profile;
	encoder->out = out;
	encoder->message = strbuf_with_max(out->max);
	encoder->resources = calloc(profile->nr_resources, sizeof(*encoder->resources));
	if (!encoder->resources)
		return -ENOMEM;

	int r = translator_init(&encoder->translator, profile, out->max);
	if (r < 0)
		return r;
	encoder->sample_type = add_value_type(encoder, "samples", "count");
	encoder->period_type = add_value_type(encoder, "cpu", "nanoseconds");
	return 0;
}

static void link_point(struct encoder *encoder, uint32_t point)
{
	struct point_list *list = &encoder->resources[encoder->points[point].key.resource];

	if (list->first_plus_1)
		encoder->points[list->last].next_plus_1 = point + 1;
	else
		list->first_plus_1 = point + 1;
	list->last = point;
}

static int add_point(struct encoder *encoder, const struct point_key *key, uint64_t value)
{
	uint32_t hash = hash_bytes(key, sizeof(*key));

	struct htable_iter it = htable_lookup(&encoder->point_index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (memcmp(&encoder->points[i].key, key, sizeof(*key)) == 0) {
			encoder->points[i].value += value;
			return 0;
		}
	}

	int r = array_grow(encoder->points, encoder->cap_points, encoder->nr_points + 1,
			   UINT32_MAX - 1);
	if (r < 0)
		return r;
	r = htable_add(&encoder->point_index, hash, (uint32_t)encoder->nr_points);
	if (r < 0)
		return r;
	encoder->points[encoder->nr_points] = (struct point){ .key = *key, .value = value };
	link_point(encoder, (uint32_t)encoder->nr_points++);
	return 0;
}

static int collect_points(struct encoder *encoder)
{
	struct translator *translator = &encoder->translator;

	for (size_t i = 0; i < encoder->profile->nr_samples; i++) {
		const struct profile_sample *sample = &encoder->profile->samples[i];
		struct point_key key = { .resource = sample->resource };

		if (sample->count == 0)
			continue;
		key.stack = translator_add_stack(translator, sample->stack);
		translator_add_attributes(translator, sample, key.attributes);

		int r = add_point(encoder, &key, sample->count);
		if (r < 0)
			return r;
	}
	return dictionary_error(&translator->dictionary);
}

static void put_text(struct strbuf *out, uint32_t field, const char *text)
{
	size_t begin = pb_begin(out, field);

	utf8_append(out, text);
	pb_end(out, begin);
}

static void put_attribute(struct encoder *encoder, const struct profile_attribute *attribute)
{
	struct strbuf *out = encoder->out;
	size_t begin = pb_begin(out, RESOURCE_ATTRIBUTES);

	put_text(out, KEY_VALUE_KEY, profile_string(encoder->profile, attribute->key));
	size_t value = pb_begin(out, KEY_VALUE_VALUE);
	put_text(out, ANY_VALUE_STRING, profile_string(encoder->profile, attribute->value));
	pb_end(out, value);
	pb_end(out, begin);
}

/* Keys must be unique; the first one holds. */
static void put_resource(struct encoder *encoder, const struct profile_resource *resource)
{
	const struct profile_attribute *attributes = encoder->profile->attributes + resource->first;
	size_t begin = pb_begin(encoder->out, RESOURCE_PROFILES_RESOURCE);

	for (size_t i = 0; i < resource->nr; i++) {
		size_t first = 0;

		while (attributes[first].key != attributes[i].key)
			first++;
		if (first == i)
			put_attribute(encoder, &attributes[i]);
	}
	pb_end(encoder->out, begin);
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
	size_t begin = pb_begin(out, field);

	pb_uint(out, VALUE_TYPE_TYPE, value_type.type);
	pb_uint(out, VALUE_TYPE_UNIT, value_type.unit);
	pb_end(out, begin);
}

static void put_point(struct encoder *encoder, const struct point *point)
{
	struct strbuf *message = &encoder->message;
	size_t nr_attributes = 0;

	while (nr_attributes < TRANSLATOR_NR_ATTRIBUTES && point->key.attributes[nr_attributes])
		nr_attributes++;
	strbuf_clear(message);
	pb_uint(message, SAMPLE_STACK_INDEX, point->key.stack);
	packed_append(message, SAMPLE_ATTRIBUTE_INDICES, point->key.attributes, nr_attributes);
	packed_append_one(message, SAMPLE_VALUES, point->value);
	if (strbuf_error(message) < 0)
		encoder->out->error = strbuf_error(message);
	pb_bytes(encoder->out, PROFILE_SAMPLES, message->data, message->len);
}

/* An id is there to recognise a profile that arrives twice; without randomness there is none. */
static void put_profile_id(struct strbuf *out)
{
	unsigned char id[PROFILE_ID_BYTES];

	if (getrandom(id, sizeof(id), GRND_NONBLOCK) == (ssize_t)sizeof(id))
		pb_bytes(out, PROFILE_PROFILE_ID, id, sizeof(id));
}

static void put_profile(struct encoder *encoder, const struct point_list *list)
{
	struct strbuf *out = encoder->out;
	size_t begin = pb_begin(out, SCOPE_PROFILES_PROFILES);

	put_value_type(out, PROFILE_SAMPLE_TYPE, encoder->sample_type);
	for (uint32_t next = list->first_plus_1; next; next = encoder->points[next - 1].next_plus_1)
		put_point(encoder, &encoder->points[next - 1]);
	pb_fixed64(out, PROFILE_TIME_UNIX_NANO, encoder->profile->time_unix_ns);
	pb_uint(out, PROFILE_DURATION_NANO, encoder->profile->duration_ns);
	put_value_type(out, PROFILE_PERIOD_TYPE, encoder->period_type);
	pb_int(out, PROFILE_PERIOD, (int64_t)encoder->profile->period);
	put_profile_id(out);
	pb_end(out, begin);
}

static void put_resource_profiles(struct encoder *encoder, size_t resource)
{
	struct strbuf *out = encoder->out;
	size_t begin = pb_begin(out, EXPORT_REQUEST_RESOURCE_PROFILES);

	put_resource(encoder, &encoder->profile->resources[resource]);
	size_t scope = pb_begin(out, RESOURCE_PROFILES_SCOPE_PROFILES);
	put_scope(out);
	put_profile(encoder, &encoder->resources[resource]);
	pb_end(out, scope);
	pb_string(out, RESOURCE_PROFILES_SCHEMA_URL, SCHEMA_URL);
	pb_end(out, begin);
}

static void put_request(struct encoder *encoder)
{
	for (size_t i = 0; i < encoder->profile->nr_resources; i++)
		if (encoder->resources[i].first_plus_1)
			put_resource_profiles(encoder, i);

	size_t begin = pb_begin(encoder->out, EXPORT_REQUEST_DICTIONARY);
	dictionary_encode(&encoder->translator.dictionary, encoder->out);
	pb_end(encoder->out, begin);
}

int otlp_encode(const struct profile *profile, struct strbuf *out)
{
	_cleanup_(encoder_done) struct encoder encoder = { 0 };

	int r = encoder_init(&encoder, profile, out);
	if (r == 0)
		r = collect_points(&encoder);
	if (r < 0) {
		out->error = r;
		return r;
	}
	if (encoder.nr_points > 0)
		put_request(&encoder);
	return strbuf_error(out);
}

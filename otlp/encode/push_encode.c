/* SPDX-License-Identifier: Apache-2.0 */
/* push.v1.PushRequest: a series for each group of samples, its labels beside one pprof message.
 *
 * The message and the label __name__ contain the type. The message has no labels of its own, since
 * Pyroscope would make a series of each set of them. Names of labels have the characters of
 * Prometheus before version 3: letters, digits and underscores. */
#include "otlp/encode/encode.h"

#include "base/arena.h"
#include "base/gzip.h"
#include "base/pb.h"
#include "base/random.h"
#include "otlp/attributes/attribute_names.h"
#include "otlp/encode/packed.h"
#include "otlp/encode/sample_group.h"
#include "profile/pprof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum push_request_field { PUSH_REQUEST_SERIES = 1 };
enum series_field { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum label_pair_field { LABEL_PAIR_NAME = 1, LABEL_PAIR_VALUE = 2 };
enum raw_sample_field { RAW_SAMPLE_RAW_PROFILE = 1, RAW_SAMPLE_ID = 2 };

#define PPROF_MAX_BYTES ((size_t)64 << 20) /* before compression */
#define UUID_TEXT_BYTES 37

#define LABEL_FAMILY "__name__"
#define LABEL_SERVICE "service_name"
#define ATTRIBUTE_SERVICE "service.name"
#define NO_SERVICE "unknown_service" /* Pyroscope's own for lack of one */

struct push {
	const struct encode_job *job; /* borrowed */
	struct strbuf *out; /* borrowed; keeps the first error */
	struct arena names; /* of labels */
	struct strbuf pprof; /* scratch: a message, and compressed */
	struct strbuf payload;
	uint32_t *stacks; /* owned; the last group in which each stack occurred, + 1 */
	struct encode_result result;
};

static void push_done(struct push *push)
{
	arena_done(&push->names);
	strbuf_done(&push->pprof);
	strbuf_done(&push->payload);
	free(push->stacks);
}

static int push_init(struct push *push)
{
	push->pprof = strbuf_with_max(PPROF_MAX_BYTES);
	push->payload = strbuf_with_max(2 * PPROF_MAX_BYTES);
	push->stacks = calloc(push->job->profile->nr_stacks, sizeof(*push->stacks));
	return push->stacks ? 0 : -ENOMEM;
}

static void put_label(struct push *push, const char *name, const char *value)
{
	size_t len = packed_field_len(strlen(name)) + packed_field_len(strlen(value));

	packed_begin(push->out, SERIES_LABELS, len);
	pb_string(push->out, LABEL_PAIR_NAME, name);
	pb_string(push->out, LABEL_PAIR_VALUE, value);
	push->result.cost_bytes += packed_field_len(len);
}

static const char *find_service(const struct group_attributes *attributes)
{
	for (size_t i = 0; i < attributes->nr; i++)
		if (strcmp(attributes->items[i].key, ATTRIBUTE_SERVICE) == 0)
			return attributes->items[i].value;
	return NO_SERVICE;
}

/* Names of the series so far. */
struct taken {
	const char **names;
	size_t nr;
};

static bool is_taken(const char *name, const void *data)
{
	const struct taken *taken = data;

	for (size_t i = 0; i < taken->nr; i++)
		if (strcmp(taken->names[i], name) == 0)
			return true;
	return strcmp(name, LABEL_SERVICE) == 0;
}

static const char *legacy_name(struct push *push, const char *key, const struct taken *taken)
{
	char name[ATTRIBUTE_NAME_MAX + 1];

	attribute_name_clean(ATTRIBUTES_PYROSCOPE, key, name);
	for (char *dot = name; (dot = strchr(dot, '.'));)
		*dot = '_';
	attribute_name_make_unique(name, is_taken, taken);
	return arena_strndup(&push->names, name, strlen(name));
}

static void put_pid(struct push *push, uint32_t pid)
{
	char text[12];

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	put_label(push, "process_pid", text);
}

static int put_labels(struct push *push, const struct group_attributes *attributes)
{
	struct taken taken = {
		.names = arena_alloc(&push->names, attributes->nr * sizeof(*taken.names)),
	};

	if (!taken.names)
		return -ENOMEM;
	put_label(push, LABEL_FAMILY, profile_type_names(push->job->profile->type)->family);
	put_label(push, LABEL_SERVICE, find_service(attributes));
	for (size_t i = 0; i < attributes->nr; i++) {
		if (strcmp(attributes->items[i].key, ATTRIBUTE_SERVICE) == 0)
			continue;
		const char *name = legacy_name(push, attributes->items[i].key, &taken);
		if (!name)
			return -ENOMEM;
		taken.names[taken.nr++] = name;
		put_label(push, name, attributes->items[i].value);
	}
	if (attributes->pid)
		put_pid(push, attributes->pid);
	return 0;
}

/* Version 4, variant 1 (RFC 9562). The id is omitted without random numbers. */
static void put_id(struct strbuf *out)
{
	char text[UUID_TEXT_BYTES];
	unsigned char id[16];

	if (random_bytes(id, sizeof(id)) < 0)
		return;
	id[6] = (unsigned char)(0x40 | (id[6] & 0x0f));
	id[8] = (unsigned char)(0x80 | (id[8] & 0x3f));
	snprintf(text, sizeof(text),
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", id[0],
		 id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11],
		 id[12], id[13], id[14], id[15]);
	pb_string(out, RAW_SAMPLE_ID, text);
}

static int put_sample(struct push *push, const struct sample_group *group)
{
	const struct pprof_part part = {
		.samples = group->samples,
		.nr_samples = group->nr_samples,
		.max_frames = ENCODE_STACK_MAX_FRAMES,
		.is_bare = true,
	};

	strbuf_clear(&push->pprof);
	strbuf_clear(&push->payload);
	int r = pprof_encode(push->job->profile, &part, NULL, &push->pprof);
	if (r < 0)
		return r;
	gzip_append(&push->payload, push->pprof.data, push->pprof.len);
	if (strbuf_error(&push->payload) < 0)
		return strbuf_error(&push->payload);

	size_t begin = pb_begin(push->out, SERIES_SAMPLES);
	pb_bytes(push->out, RAW_SAMPLE_RAW_PROFILE, push->payload.data, push->payload.len);
	put_id(push->out);
	pb_end(push->out, begin);
	push->result.cost_bytes += push->pprof.len;
	return 0;
}

/* Samples with the same stack are sent as one. */
static void count_samples(struct push *push, const struct sample_group *group)
{
	push->result.nr_profiles++;
	for (size_t i = 0; i < group->nr_samples; i++) {
		const struct profile_sample *sample =
			&push->job->profile->samples[group->samples[i]];

		push->result.nr_taken += profile_sample_nr_taken(push->job->profile, sample);
		push->result.nr_samples += push->stacks[sample->stack] != group->number + 1;
		push->stacks[sample->stack] = group->number + 1;
	}
}

static int put_series(struct push *push, const struct sample_group *group)
{
	size_t begin = pb_begin(push->out, PUSH_REQUEST_SERIES);

	int r = put_labels(push, &push->job->attributes->groups[group->number]);
	if (r == 0)
		r = put_sample(push, group);
	if (r < 0)
		return r;
	pb_end(push->out, begin);
	count_samples(push, group);
	return strbuf_error(push->out);
}

int push_encode(const struct encode_job *job, struct strbuf *out, struct encode_result *ret_result)
{
	_cleanup_(push_done) struct push push = { .job = job, .out = out };

	struct sample_group group = { 0 };

	int r = push_init(&push);
	while (r == 0 && sample_group_next(job, &group))
		r = put_series(&push, &group);
	strbuf_fail(out, r);
	if (r < 0)
		return strbuf_error(out);
	*ret_result = push.result;
	return 0;
}

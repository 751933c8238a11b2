/* SPDX-License-Identifier: Apache-2.0 */
/* Samples refer to stacks and label sets by index, and stacks to frames:
 *
 *	sample ─▶ stack ─▶ frames, root first
 *	   └────▶ labels */
#include "profile/json_profile.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/json_text.h"
#include "profile/frame_rows.h"
#include "profile/used_rows.h"
#include "profile/waker_edge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAKERS_MAX 100
#define WAKER_MAX_BYTES 16384

struct encoder {
	const struct profile *profile; /* borrowed */
	struct strbuf *out; /* borrowed */
	struct frame_rows rows;
	struct used_rows stacks; /* ids begin with 1, indices with 0 */
	uint32_t *label_sets; /* owned; of each set, a sample that has it */
	size_t nr_label_sets, cap_label_sets;
	struct htable index; /* of label sets */
	uint32_t *set_of; /* owned; of each sample */
};

static void encoder_done(struct encoder *encoder)
{
	frame_rows_done(&encoder->rows);
	used_rows_done(&encoder->stacks);
	free(encoder->label_sets);
	htable_done(&encoder->index);
	free(encoder->set_of);
}

/* Returns a sample's labels and nothing else. */
static struct profile_sample labels_of(const struct encoder *encoder, uint32_t sample)
{
	struct profile_sample labels = encoder->profile->samples[sample];

	labels.stack = 0;
	labels.time_ns = 0;
	return labels;
}

static int find_label_set(struct encoder *encoder, uint32_t sample)
{
	const struct profile_sample wanted = labels_of(encoder, sample);
	uint32_t hash = hash_bytes(&wanted, PROFILE_SAMPLE_KEY_BYTES);

	struct htable_iter it = htable_lookup(&encoder->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		const struct profile_sample known = labels_of(encoder, encoder->label_sets[i]);

		if (memcmp(&known, &wanted, PROFILE_SAMPLE_KEY_BYTES) == 0) {
			encoder->set_of[sample] = i;
			return 0;
		}
	}
	int r = array_grow(encoder->label_sets, encoder->cap_label_sets, encoder->nr_label_sets + 1,
			   UINT32_MAX);
	if (r == 0)
		r = htable_add(&encoder->index, hash, (uint32_t)encoder->nr_label_sets);
	if (r < 0)
		return r;
	encoder->set_of[sample] = (uint32_t)encoder->nr_label_sets;
	encoder->label_sets[encoder->nr_label_sets++] = sample;
	return 0;
}

static int encoder_init(struct encoder *encoder)
{
	const struct profile *p = encoder->profile;

	int r = frame_rows_init(&encoder->rows, p);
	if (r == 0)
		r = used_rows_init(&encoder->stacks, p->nr_stacks);
	if (r < 0)
		return r;
	encoder->set_of = calloc(p->nr_samples + 1, sizeof(*encoder->set_of));
	if (!encoder->set_of)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < p->nr_samples; i++) {
		(void)used_rows_use(&encoder->stacks, p->samples[i].stack);
		r = find_label_set(encoder, i);
	}
	return r;
}

static void put_comma(struct strbuf *out, size_t index, const char *before)
{
	strbuf_append_str(out, index > 0 ? "," : "");
	strbuf_append_str(out, before);
}

static void put_text(struct strbuf *out, size_t index, const char *name, const char *value)
{
	if (!*value)
		return;
	put_comma(out, index, "");
	json_append_member(out, name, value);
}

static void put_number(struct strbuf *out, const char *name, uint64_t value)
{
	strbuf_appendf(out, ",\"%s\":%" PRIu64, name, value);
}

static void put_frames(struct encoder *encoder)
{
	const struct profile *p = encoder->profile;
	struct strbuf *out = encoder->out;

	strbuf_append_str(out, ",\n\"frames\":[");
	for (uint32_t i = 0; i < encoder->rows.nr_rows; i++) {
		const struct frame_row *row = &encoder->rows.rows[i];

		put_comma(out, i, "\n{");
		put_text(out, 0, "name", frame_row_name(&encoder->rows, i));
		put_text(out, 1, "kind", frame_kind_word(row->kind));
		put_text(out, 1, "module", profile_string(p, row->module));
		put_text(out, 1, "file", profile_string(p, row->source));
		if (row->start_line)
			put_number(out, "line", row->start_line);
		strbuf_append_char(out, '}');
	}
	strbuf_append_char(out, ']');
}

/* Writes the rows of a stack, the root first. */
static void put_stack(struct encoder *encoder, const struct profile_stack *stack)
{
	const struct profile *p = encoder->profile;
	const char *separator = "[";

	for (size_t i = stack->nr; i-- > 0;) {
		uint32_t location = p->stack_locations[stack->first + i];
		const uint32_t *rows = frame_rows_of(&encoder->rows, location);

		for (uint32_t j = p->locations[location].nr_lines; j-- > 0; separator = ",")
			strbuf_appendf(encoder->out, "%s%" PRIu32, separator, rows[j]);
	}
	strbuf_append_str(encoder->out, *separator == '[' ? "[]" : "]");
}

static void put_stacks(struct encoder *encoder)
{
	const struct used_rows *stacks = &encoder->stacks;

	strbuf_append_str(encoder->out, ",\n\"stacks\":[");
	for (uint32_t i = 0; i < stacks->nr; i++) {
		put_comma(encoder->out, i, "\n");
		put_stack(encoder, &encoder->profile->stacks[stacks->elements[i]]);
	}
	strbuf_append_char(encoder->out, ']');
}

/* The name of the process comes first, as every sample has one, even if it is "". */
static void put_label_set(struct encoder *encoder, const struct profile_sample *sample)
{
	const struct profile *p = encoder->profile;
	const struct profile_resource *resource = &p->resources[sample->resource];
	struct strbuf *out = encoder->out;

	json_append_member(out, "comm", profile_string(p, sample->process_comm));
	put_text(out, 1, "thread", profile_string(p, sample->thread_comm));
	put_text(out, 1, "process", profile_string(p, p->processes[sample->process].name));
	if (sample->pid)
		put_number(out, "pid", sample->pid);
	if (sample->tid)
		put_number(out, "tid", sample->tid);
	if (sample->cpu != PROFILE_CPU_UNKNOWN)
		put_number(out, "cpu", sample->cpu);
	if (sample->cgroup_id)
		put_number(out, "cgroup", sample->cgroup_id);
	put_text(out, 1, "reason", wait_reason_word(sample->reason));
	for (size_t i = resource->first; i < resource->first + resource->nr; i++)
		put_text(out, 1, profile_string(p, p->attributes[i].key),
			 profile_string(p, p->attributes[i].value));
}

static void put_label_sets(struct encoder *encoder)
{
	strbuf_append_str(encoder->out, ",\n\"labels\":[");
	for (size_t i = 0; i < encoder->nr_label_sets; i++) {
		put_comma(encoder->out, i, "\n{");
		put_label_set(encoder, &encoder->profile->samples[encoder->label_sets[i]]);
		strbuf_append_char(encoder->out, '}');
	}
	strbuf_append_char(encoder->out, ']');
}

static void put_samples(struct encoder *encoder)
{
	const struct profile *p = encoder->profile;

	strbuf_append_str(encoder->out, ",\n\"samples\":[");
	for (size_t i = 0; i < p->nr_samples; i++) {
		put_comma(encoder->out, i, "\n");
		strbuf_appendf(encoder->out,
			       "{\"stack\":%" PRIu32 ",\"labels\":%" PRIu32 ",\"value\":%" PRIu64
			       "}",
			       used_rows_use(&encoder->stacks, p->samples[i].stack) - 1,
			       encoder->set_of[i], p->samples[i].count);
	}
	strbuf_append_char(encoder->out, ']');
}

static void put_head(struct encoder *encoder, const struct caption *caption)
{
	const struct profile *p = encoder->profile;
	const struct profile_type_names *names = profile_type_names(p->type);
	struct strbuf *out = encoder->out;

	strbuf_append_str(out, "{\"format\":\"flamelet-profile\",\"version\":1,\n");
	json_append_member(out, "title", caption->title);
	put_text(out, 1, "origin", caption->subtitle);
	put_text(out, 1, "type", names->sample_type);
	put_text(out, 1, "values", names->values);
	put_number(out, "total", profile_total(p));
	put_number(out, "start_unix_ns", p->time_unix_ns);
	put_number(out, "duration_ns", p->duration_ns);
	if (p->type == PROFILE_CPU) {
		put_number(out, "period_ns", p->period);
		put_number(out, "cpu_time_ns", profile_total(p) * p->period);
	}
}

/* Puts who ended whose waits, the longest first, if wakers were recorded. */
static int put_wakers(struct encoder *encoder)
{
	_cleanup_(ranking_done) struct ranking edges = { 0 };
	struct rank ranks[WAKERS_MAX];
	struct strbuf *out = encoder->out;

	int r = encoder->profile->type != PROFILE_CPU
			? waker_edge_rank(encoder->profile, "\n", &edges)
			: ranking_init(&edges);
	if (r < 0)
		return r;
	size_t nr = ranking_top(&edges, array_len(ranks), ranks);
	if (nr > 0)
		strbuf_append_str(out, ",\n\"wakers\":[");
	for (size_t i = 0; i < nr; i++) {
		size_t len = strcspn(ranks[i].label, "\n");
		_cleanup_(strbuf_done) struct strbuf waker = strbuf_with_max(WAKER_MAX_BYTES);

		strbuf_append(&waker, ranks[i].label, len);
		put_comma(out, i, "\n{");
		json_append_member(out, "waker", strbuf_str(&waker));
		put_text(out, 1, "sleeper", ranks[i].label + len + 1);
		put_number(out, "value", ranks[i].count);
		strbuf_append_char(out, '}');
	}
	strbuf_append_str(out, nr > 0 ? "]" : "");
	return 0;
}

int json_profile_encode(const struct profile *profile, const struct caption *caption,
			struct strbuf *out)
{
	_cleanup_(encoder_done) struct encoder encoder = { .profile = profile, .out = out };

	int r = encoder_init(&encoder);
	if (r == 0) {
		put_head(&encoder, caption);
		put_frames(&encoder);
		put_stacks(&encoder);
		put_label_sets(&encoder);
		put_samples(&encoder);
		r = put_wakers(&encoder);
		strbuf_append_str(out, "}\n");
		r = r < 0 ? r : strbuf_error(out);
	}
	strbuf_fail(out, r);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of equal length stand for rows. A node's parent is written as the distance to it, and the
 * nodes of samples, which are sorted by them, as the distance to the one before: small numbers
 * compress well. */
#include "profile/viewer_data.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "profile/frame_rows.h"
#include "profile/viewer_labels.h"
#include "profile/viewer_stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#define NODES_MAX ((size_t)1 << 21)

/* Samples with equal node and labels. */
struct viewer_sample {
	uint32_t node, labels;
	uint64_t value, before;
};

struct encoder {
	const struct viewer_content *content; /* borrowed */
	struct strbuf *out; /* borrowed */
	struct viewer_stacks stacks;
	struct viewer_labels labels;
	struct viewer_sample *samples; /* owned */
	size_t nr_samples, cap_samples;
};

static void encoder_done(struct encoder *encoder)
{
	viewer_stacks_done(&encoder->stacks);
	viewer_labels_done(&encoder->labels);
	free(encoder->samples);
}

static int add_samples(struct encoder *encoder, const struct profile *profile, bool is_before)
{
	_cleanup_free_ uint32_t *nodes = calloc(profile->nr_stacks + 1, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;

	int r = viewer_stacks_add(&encoder->stacks, profile, nodes);
	if (r == 0)
		r = array_grow(encoder->samples, encoder->cap_samples,
			       encoder->nr_samples + profile->nr_samples + 1, SIZE_MAX);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		const struct profile_sample *from = &profile->samples[i];
		struct viewer_sample *to = &encoder->samples[encoder->nr_samples++];

		*to = (struct viewer_sample){
			.node = nodes[from->stack],
			.value = is_before ? 0 : from->count,
			.before = is_before ? from->count : 0,
		};
		r = viewer_labels_get(&encoder->labels, profile, from, &to->labels);
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct viewer_sample *sample_a = a, *sample_b = b;

	if (sample_a->node != sample_b->node)
		return sample_a->node < sample_b->node ? -1 : 1;
	return (sample_a->labels > sample_b->labels) - (sample_a->labels < sample_b->labels);
}

/* Sorts the samples, and makes those with equal node and labels one. */
static void join_samples(struct encoder *encoder)
{
	struct viewer_sample *samples = encoder->samples;
	size_t nr = 0;

	if (encoder->nr_samples > 0)
		qsort(samples, encoder->nr_samples, sizeof(*samples), compare);
	for (size_t i = 0; i < encoder->nr_samples; i++) {
		if (nr > 0 && compare(&samples[nr - 1], &samples[i]) == 0) {
			samples[nr - 1].value += samples[i].value;
			samples[nr - 1].before += samples[i].before;
		} else {
			samples[nr++] = samples[i];
		}
	}
	encoder->nr_samples = nr;
}

static int encoder_init(struct encoder *encoder)
{
	const struct viewer_content *content = encoder->content;
	const struct profile *before = content->diff ? content->diff->before : NULL;

	int r = viewer_stacks_init(&encoder->stacks, NODES_MAX);
	if (r < 0)
		return r;
	viewer_labels_init(&encoder->labels, &encoder->stacks.strings, content->view,
			   content->profile, before);
	r = add_samples(encoder, content->profile, false);
	if (r == 0 && before)
		r = add_samples(encoder, before, true);
	if (r == 0)
		join_samples(encoder);
	return r;
}

static void put_text(struct strbuf *out, const char *name, const char *value)
{
	strbuf_append_str(out, ",\n");
	json_append_member(out, name, value ? value : "");
}

static void put_number(struct strbuf *out, const char *name, uint64_t value)
{
	strbuf_appendf(out, ",\n\"%s\":%" PRIu64, name, value);
}

static void put_view(struct strbuf *out, const struct view *view)
{
	static const char *const kernels[] = {
		[VIEW_KERNEL_ALL] = "all", [VIEW_KERNEL_ONLY] = "only", [VIEW_KERNEL_HIDE] = "hide"
	};

	strbuf_appendf(out, ",\n\"view\":{\"bottom_up\":%s,\"kernel\":\"%s\",\"group\":[",
		       view->bottom_up ? "true" : "false", kernels[view->kernel]);
	for (size_t i = 0; i < view->nr_groups; i++) {
		strbuf_append_str(out, i > 0 ? "," : "");
		json_append_text(out, view->groups[i]);
	}
	strbuf_append_str(out, "]}");
}

static void put_diff(struct strbuf *out, const struct diff *diff)
{
	static const char *const measures[] = {
		[DIFF_SHARES] = "shares", [DIFF_RATES] = "rates", [DIFF_SUMS] = "sums"
	};

	strbuf_appendf(out,
		       ",\n\"diff\":{\"measure\":\"%s\",\"scale\":%.17g,\"has_noise\":%s,"
		       "\"before_period_ns\":%" PRIu64 ",\"before_duration_ns\":%" PRIu64 "}",
		       measures[diff->measure], diff->scale, diff->has_noise ? "true" : "false",
		       diff->before->period, diff->before->duration_ns);
}

static void put_head(struct encoder *encoder)
{
	const struct viewer_content *content = encoder->content;
	const struct profile *p = content->profile;
	struct strbuf *out = encoder->out;

	strbuf_append_str(out, "{\"format\":\"flamelet-view\",\"version\":1");
	put_text(out, "title", content->caption->title);
	put_text(out, "origin", content->caption->subtitle);
	put_text(out, "note", content->caption->note);
	put_text(out, "type", profile_type_names(p->type)->sample_type);
	put_text(out, "values", profile_type_names(p->type)->values);
	put_number(out, "start_unix_ns", p->time_unix_ns);
	put_number(out, "duration_ns", p->duration_ns);
	put_number(out, "period_ns", p->type == PROFILE_CPU ? p->period : 0);
	put_number(out, "truncated_stacks", encoder->stacks.nr_cut);
	put_view(out, content->view);
	if (content->diff)
		put_diff(out, content->diff);
}

static void put_strings(struct encoder *encoder)
{
	const struct intern *strings = &encoder->stacks.strings;

	strbuf_append_str(encoder->out, ",\n\"strings\":[");
	for (uint32_t i = 0; i < strings->nr_strings; i++) {
		strbuf_append_str(encoder->out, i > 0 ? ",\n" : "");
		json_append_text(encoder->out, intern_get(strings, i));
	}
	strbuf_append_char(encoder->out, ']');
}

/* Returns a row's cell. */
typedef uint64_t cell_fn(const struct encoder *encoder, size_t row);

static uint64_t frame_name(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.frames[row].name;
}

static uint64_t frame_module(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.frames[row].module;
}

static uint64_t frame_source(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.frames[row].source;
}

static uint64_t frame_line(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.frames[row].start_line;
}

static uint64_t frame_kind(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.frames[row].kind;
}

static uint64_t node_parent(const struct encoder *encoder, size_t row)
{
	return row - encoder->stacks.nodes[row].parent;
}

static uint64_t node_frame(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.nodes[row].frame;
}

static uint64_t node_inlined(const struct encoder *encoder, size_t row)
{
	return encoder->stacks.nodes[row].is_inlined;
}

static uint64_t sample_node(const struct encoder *encoder, size_t row)
{
	return encoder->samples[row].node - (row > 0 ? encoder->samples[row - 1].node : 0);
}

static uint64_t sample_labels(const struct encoder *encoder, size_t row)
{
	return encoder->samples[row].labels;
}

static uint64_t sample_value(const struct encoder *encoder, size_t row)
{
	return encoder->samples[row].value;
}

static uint64_t sample_before(const struct encoder *encoder, size_t row)
{
	return encoder->samples[row].before;
}

struct column {
	const char *before; /* the text before its name */
	const char *name;
	cell_fn *cell;
};

static void put_column(struct encoder *encoder, const struct column *column, size_t nr_rows)
{
	strbuf_appendf(encoder->out, "%s\"%s\":[", column->before, column->name);
	for (size_t i = 0; i < nr_rows; i++) {
		if (i > 0)
			strbuf_append_char(encoder->out, ',');
		strbuf_append_u64(encoder->out, column->cell(encoder, i));
	}
	strbuf_append_char(encoder->out, ']');
}

static void put_kinds(struct strbuf *out)
{
	strbuf_append_str(out, ",\n\"kinds\":[");
	for (unsigned int kind = 0; kind <= FRAME_LABEL; kind++)
		strbuf_appendf(out, "%s\"%s\"", kind > 0 ? "," : "",
			       frame_kind_word((enum frame_kind)kind));
	strbuf_append_char(out, ']');
}

static void put_labels(struct encoder *encoder)
{
	const struct viewer_labels *labels = &encoder->labels;
	const char *before = "";

	strbuf_append_str(encoder->out, ",\n\"labels\":[");
	for (size_t key = 0; key < labels->nr_keys; key++) {
		if (!viewer_labels_has(labels, key))
			continue;
		strbuf_appendf(encoder->out, "%s{", before);
		json_append_member(encoder->out, "name", labels->keys[key].word);
		strbuf_append_str(encoder->out, ",\"values\":[");
		for (size_t set = 0; set < labels->nr_sets; set++)
			strbuf_appendf(encoder->out, "%s%" PRIu32, set > 0 ? "," : "",
				       labels->values[set * labels->nr_keys + key]);
		strbuf_append_str(encoder->out, "]}");
		before = ",\n";
	}
	strbuf_append_char(encoder->out, ']');
}

static void put_columns(struct encoder *encoder)
{
	static const struct column frames[] = {
		{ ",\n\"frames\":{", "name", frame_name },
		{ ",\n", "kind", frame_kind },
		{ ",\n", "module", frame_module },
		{ ",\n", "file", frame_source },
		{ ",\n", "line", frame_line },
	};
	static const struct column nodes[] = {
		{ "},\n\"nodes\":{", "parent", node_parent },
		{ ",\n", "frame", node_frame },
		{ ",\n", "inlined", node_inlined },
	};
	static const struct column samples[] = {
		{ "},\n\"samples\":{", "node", sample_node },
		{ ",\n", "labels", sample_labels },
		{ ",\n", "value", sample_value },
		{ ",\n", "before", sample_before },
	};
	size_t nr_of_samples = array_len(samples) - (encoder->content->diff ? 0 : 1);

	for (size_t i = 0; i < array_len(frames); i++)
		put_column(encoder, &frames[i], encoder->stacks.nr_frames);
	for (size_t i = 0; i < array_len(nodes); i++)
		put_column(encoder, &nodes[i], encoder->stacks.nr_nodes);
	for (size_t i = 0; i < nr_of_samples; i++)
		put_column(encoder, &samples[i], encoder->nr_samples);
}

int viewer_data_encode(const struct viewer_content *content, struct strbuf *out)
{
	_cleanup_(encoder_done) struct encoder encoder = { .content = content, .out = out };

	int r = encoder_init(&encoder);
	if (r == 0) {
		put_head(&encoder);
		put_strings(&encoder);
		put_kinds(out);
		put_columns(&encoder);
		strbuf_append_char(out, '}');
		put_labels(&encoder);
		strbuf_append_str(out, "}\n");
		r = strbuf_error(out);
	}
	strbuf_fail(out, r);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Every sample is copied with a stack that is put together anew, leaf first:
 *
 *	frames of the old stack, filtered and maybe reversed ─▶ labels, innermost first
 *
 * In a reversed stack, each function of an inlined location becomes a location of its own, because
 * a location's functions are in the order of their calls. */
#include "profile/view.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "profile/copier.h"
#include "profile/sample_label.h"

#include <stdlib.h>

#define KERNEL_MARK "[kernel]"
#define LABEL_MAX_BYTES 4096

struct viewer {
	const struct view *view; /* borrowed */
	const struct profile *from; /* borrowed */
	struct builder *to; /* owned */
	struct copier copier;
	struct label_key keys[VIEW_GROUPS_MAX];
	struct strbuf text; /* of a label's frame */
	uint32_t *stack; /* owned; locations of `to`, leaf first */
	size_t nr, cap;
};

static void viewer_done(struct viewer *viewer)
{
	copier_done(&viewer->copier);
	builder_free(viewer->to);
	strbuf_done(&viewer->text);
	free(viewer->stack);
}

static int push(struct viewer *viewer, uint32_t location)
{
	int r = array_grow(viewer->stack, viewer->cap, viewer->nr + 1, SIZE_MAX);

	if (r == 0)
		viewer->stack[viewer->nr++] = location;
	return r;
}

/* Adds a frame that is a name only. */
static int push_name(struct viewer *viewer, const char *name, enum frame_kind kind)
{
	struct profile_location location = { .kind = kind };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	uint32_t id;
	int r;

	if ((r = builder_add_string(viewer->to, name, &function.name)) < 0 ||
	    (r = builder_add_function(viewer->to, &function, &line.function)) < 0)
		return r;
	location.address = line.function; /* keeps locations of different functions apart */
	r = builder_add_named_location(viewer->to, &location, &line, 1, &id);
	return r < 0 ? r : push(viewer, id);
}

/* Returns what the frame of a label shows. Only numbers need the name of their label. */
static const char *label_text(struct viewer *viewer, const struct label_key *key, const char *value)
{
	bool is_number = key->source == LABEL_PID || key->source == LABEL_CGROUP ||
			 key->source == LABEL_CPU;

	if (*value && !is_number)
		return value;
	strbuf_clear(&viewer->text);
	if (*value)
		strbuf_appendf(&viewer->text, "%s %s", key->word, value);
	else
		strbuf_appendf(&viewer->text, "[no %s]", key->word);
	return strbuf_str(&viewer->text);
}

static int push_labels(struct viewer *viewer, const struct profile_sample *sample)
{
	char number[LABEL_NUMBER_BYTES];
	int r = 0;

	for (size_t i = viewer->view->nr_groups; r == 0 && i-- > 0;) {
		const struct label_key *key = &viewer->keys[i];
		const char *value = sample_label(viewer->from, sample, key, number);

		const char *text = label_text(viewer, key, value);

		r = strbuf_error(&viewer->text);
		if (r == 0 || r == -ENOSPC) /* a label's name that is too long is truncated */
			r = push_name(viewer, text, FRAME_LABEL);
	}
	return r;
}

static bool is_shown(const struct viewer *viewer, enum frame_kind kind)
{
	switch (viewer->view->kernel) {
	case VIEW_KERNEL_ONLY:
		return kind == FRAME_KERNEL;
	case VIEW_KERNEL_HIDE:
		return kind != FRAME_KERNEL;
	case VIEW_KERNEL_ALL:
		break;
	}
	return true;
}

/* Adds the functions of a location as locations, the outermost first. */
static int push_functions(struct viewer *viewer, uint32_t old)
{
	struct profile_location location = viewer->from->locations[old];
	const struct profile_line *lines = profile_location_lines(viewer->from, &location);
	uint32_t id;

	int r = copier_add_mapping(&viewer->copier, location.mapping, &location.mapping);
	for (uint32_t i = location.nr_lines; r == 0 && i-- > 0;) {
		struct profile_line line = { .line = lines[i].line };

		r = copier_add_function(&viewer->copier, lines[i].function, &line.function);
		if (r == 0)
			r = builder_add_named_location(viewer->to, &location, &line, 1, &id);
		if (r == 0)
			r = push(viewer, id);
	}
	return r;
}

static int push_location(struct viewer *viewer, uint32_t old)
{
	uint32_t id;

	if (viewer->view->bottom_up && viewer->from->locations[old].nr_lines > 1)
		return push_functions(viewer, old);
	int r = copier_add_location(&viewer->copier, old, &id);
	return r < 0 ? r : push(viewer, id);
}

static int push_frames(struct viewer *viewer, const struct profile_stack *stack)
{
	const uint32_t *frames = viewer->from->stack_locations + stack->first;
	size_t nr_before = viewer->nr;
	int r = 0;

	for (size_t i = 0; r == 0 && i < stack->nr; i++) {
		uint32_t old = frames[viewer->view->bottom_up ? stack->nr - 1 - i : i];

		if (is_shown(viewer, viewer->from->locations[old].kind))
			r = push_location(viewer, old);
	}
	if (r == 0 && stack->nr > 0 && viewer->nr == nr_before)
		r = push_name(viewer, KERNEL_MARK, FRAME_KERNEL);
	return r;
}

static int add_sample(struct viewer *viewer, struct profile_sample sample)
{
	const struct view *view = viewer->view;
	const char *comm = profile_string(viewer->from, sample.process_comm);
	int r = 0;

	viewer->nr = 0;
	if (view->bottom_up && view->nr_groups == 0)
		r = push_name(viewer, *comm ? comm : "[unnamed]", FRAME_LABEL);
	if (r == 0)
		r = push_frames(viewer, &viewer->from->stacks[sample.stack]);
	if (r == 0)
		r = push_labels(viewer, &sample);
	if (r == 0)
		r = builder_add_stack(viewer->to, viewer->stack, viewer->nr, &sample.stack);
	return r < 0 ? r : copier_add_sample(&viewer->copier, sample);
}

static bool has_kernel_frame(const struct profile *profile, const struct profile_stack *stack)
{
	for (size_t i = stack->first; i < stack->first + stack->nr; i++)
		if (profile->locations[profile->stack_locations[i]].kind == FRAME_KERNEL)
			return true;
	return false;
}

static int add_samples(struct viewer *viewer, struct view_result *result)
{
	const struct profile *from = viewer->from;

	for (size_t i = 0; i < from->nr_samples; i++) {
		const struct profile_sample *sample = &from->samples[i];

		if (viewer->view->kernel == VIEW_KERNEL_ONLY &&
		    !has_kernel_frame(from, &from->stacks[sample->stack])) {
			result->nr_user += sample->count;
			continue;
		}
		int r = add_sample(viewer, *sample);
		if (r == -ENOSPC)
			result->nr_lost += sample->count;
		else if (r < 0)
			return r;
	}
	return 0;
}

static int viewer_init(struct viewer *viewer, const struct view *view,
		       const struct profile *profile, size_t max_bytes)
{
	*viewer = (struct viewer){ .view = view,
				   .from = profile,
				   .text = strbuf_with_max(LABEL_MAX_BYTES) };
	for (size_t i = 0; i < view->nr_groups; i++)
		viewer->keys[i] = label_key_of(view->groups[i]);
	int r = builder_new(max_bytes, &viewer->to);
	if (r == 0)
		r = copier_init(&viewer->copier, viewer->to, profile);
	return r < 0 ? r : builder_join(viewer->to, profile);
}

bool view_is_plain(const struct view *view)
{
	return view->nr_groups == 0 && !view->bottom_up && view->kernel == VIEW_KERNEL_ALL;
}

int view_apply(const struct view *view, const struct profile *profile, size_t max_bytes,
	       struct view_result *ret_result)
{
	_cleanup_(viewer_done) struct viewer viewer = { 0 };
	struct view_result result = { 0 };

	if (view->nr_groups > VIEW_GROUPS_MAX)
		return -ENOSPC;
	int r = viewer_init(&viewer, view, profile, max_bytes);
	if (r == 0)
		r = add_samples(&viewer, &result);
	if (r < 0)
		return r;
	builder_set_view(viewer.to, view->bottom_up || view->nr_groups > 0, view->bottom_up);
	result.profile = builder_seal(viewer.to);
	viewer.to = NULL;
	*ret_result = result;
	return 0;
}

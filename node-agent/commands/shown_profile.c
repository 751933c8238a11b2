/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/shown_profile.h"

#include "base/text.h"
#include "profile/output.h"

#define SHOWN_MAX_BYTES ((size_t)1 << 30)

static bool format_has_labels(enum output_format format)
{
	switch (format) {
	case OUTPUT_PPROF:
	case OUTPUT_HTML:
	case OUTPUT_JSON:
	case OUTPUT_VIEW:
		return true;
	case OUTPUT_FOLDED:
	case OUTPUT_SVG:
	case OUTPUT_SPEEDSCOPE:
	case OUTPUT_FIREFOX:
	case OUTPUT_CSV:
		break;
	}
	return false;
}

bool shown_profile_wants_labels(const struct options *options)
{
	enum output_format format;

	for (size_t i = 0; i < options->outputs.nr; i++)
		if (output_format_of(options->outputs.items[i], options->output_format, &format) ==
			    0 &&
		    format_has_labels(format))
			return true;
	return options->groups.nr > 0;
}

struct view shown_profile_view(const struct options *options)
{
	static const enum view_kernel kernels[] = {
		[OPTION_KERNEL_ALL] = VIEW_KERNEL_ALL,
		[OPTION_KERNEL_ONLY] = VIEW_KERNEL_ONLY,
		[OPTION_KERNEL_HIDE] = VIEW_KERNEL_HIDE,
	};

	return (struct view){
		.groups = (const char *const *)options->groups.items,
		.nr_groups = options->groups.nr,
		.bottom_up = options->bottom_up,
		.kernel = kernels[options->kernel],
	};
}

static void begin_sentence(struct strbuf *note)
{
	if (note->len > 0)
		strbuf_append_char(note, ' ');
}

static void describe(const struct view *view, const struct view_result *result, uint64_t total,
		     struct strbuf *note)
{
	uint64_t nr_shown = total - result->nr_user - result->nr_lost;

	if (view->kernel == VIEW_KERNEL_ONLY) {
		begin_sentence(note);
		strbuf_appendf(note,
			       "Only the kernel is shown: %.1f %% of the samples; the others ran "
			       "in user space.",
			       total ? 100.0 * (double)nr_shown / (double)total : 0);
	}
	if (view->kernel == VIEW_KERNEL_HIDE) {
		begin_sentence(note);
		strbuf_append_str(note, "Functions of the kernel are hidden.");
	}
	if (view->bottom_up) {
		begin_sentence(note);
		strbuf_append_str(note, "Stacks begin with the function that ran.");
	}
	if (result->nr_lost > 0) {
		begin_sentence(note);
		text_append_count(note, result->nr_lost);
		strbuf_append_str(note, " samples are left out, as they are too many.");
	}
}

int shown_profile_make(const struct options *options, struct profile *profile, struct strbuf *note,
		       struct profile **ret_shown)
{
	const struct view view = shown_profile_view(options);
	struct view_result result;

	if (view_is_plain(&view)) {
		*ret_shown = profile_ref(profile);
		return 0;
	}
	int r = view_apply(&view, profile, SHOWN_MAX_BYTES, &result);
	if (r < 0)
		return r;
	describe(&view, &result, profile_total(profile), note);
	*ret_shown = result.profile;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/diff_output.h"

#include "base/cleanup.h"
#include "base/output_file.h"
#include "commands/commands.h"
#include "commands/diff_caption.h"
#include "commands/shown_profile.h"
#include "profile/diff_csv.h"
#include "profile/diff_folded.h"
#include "profile/html.h"
#include "profile/output.h"
#include "profile/svg.h"
#include "profile/viewer_page.h"

#include <string.h>

#define MESSAGE_MAX_BYTES ((size_t)1 << 16)
#define MAX_NODES (1 << 20)

/* The comparison as pictures and folded text show it. */
struct shown {
	struct profile *before, *after; /* owned */
	const struct diff *diff; /* borrowed: `own`, or that of the profiles, if they are shown */
	struct diff own;
	struct strbuf note; /* how it differs from the profiles */
};

static void shown_done(struct shown *shown)
{
	diff_done(&shown->own);
	profile_unref(shown->before);
	profile_unref(shown->after);
	strbuf_done(&shown->note);
}

static int shown_init(const struct diff_output *output, struct shown *shown)
{
	_cleanup_(strbuf_done) struct strbuf same_note = strbuf_with_max(MESSAGE_MAX_BYTES);
	const struct options *options = output->options;
	const struct diff *diff = output->diff;
	enum profile_type type = diff->after->type;

	*shown = (struct shown){ .note = strbuf_with_max(MESSAGE_MAX_BYTES) };
	int r = shown_profile_make(options, output->before->profiles.of[type], &same_note,
				   &shown->before);
	if (r == 0)
		r = shown_profile_make(options, output->after->profiles.of[type], &shown->note,
				       &shown->after);
	shown->diff = diff;
	if (r < 0 || (shown->before == diff->before && shown->after == diff->after))
		return r;
	shown->diff = &shown->own;
	return diff_init(&shown->own, shown->before, shown->after, options->is_absolute, MAX_NODES);
}

/* Makes a caption of texts in `title` and `subtitle`. */
static struct caption caption_of(const struct diff_output *output, const struct shown *shown,
				 struct strbuf *title, struct strbuf *subtitle)
{
	return (struct caption){
		.title = diff_caption_title(output->before, output->after, title),
		.subtitle = diff_caption_subtitle(output->before, output->after, output->reader,
						  shown->diff, subtitle),
		.note = shown->note.len > 0 ? strbuf_str(&shown->note) : NULL,
	};
}

static int encode_svg(const struct diff_output *output, const struct shown *shown,
		      struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf subtitle = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct caption caption = caption_of(output, shown, &title, &subtitle);

	return svg_encode_diff(shown->diff, &caption, out);
}

/* The viewer makes views itself. */
static int encode_viewer(const struct diff_output *output, const struct caption *caption,
			 bool is_page, struct strbuf *out)
{
	const struct view view = shown_profile_view(output->options);
	struct caption plain = *caption;
	const struct viewer_content content = {
		.profile = output->diff->after,
		.diff = output->diff,
		.view = &view,
		.caption = &plain,
	};

	plain.note = NULL;
	return is_page ? viewer_page_encode(&content, out) : viewer_data_encode(&content, out);
}

static int encode_html(const struct diff_output *output, const struct shown *shown,
		       struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf subtitle = strbuf_with_max(MESSAGE_MAX_BYTES);
	const struct html_diff page = {
		.shown = shown->diff,
		.diff = output->diff,
		.functions = output->functions,
		.owners = output->owners,
	};
	struct caption caption = caption_of(output, shown, &title, &subtitle);

	if (viewer_page_is_built())
		return encode_viewer(output, &caption, /* is_page= */ true, out);
	return html_encode_diff(&page, &caption, out);
}

static int encode_view(const struct diff_output *output, const struct shown *shown,
		       struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf subtitle = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct caption caption = caption_of(output, shown, &title, &subtitle);

	return encode_viewer(output, &caption, /* is_page= */ false, out);
}

static int encode(const struct diff_output *output, const struct shown *shown,
		  enum output_format format, struct strbuf *out)
{
	switch (format) {
	case OUTPUT_SVG:
		return encode_svg(output, shown, out);
	case OUTPUT_FOLDED:
		return diff_folded_encode(shown->diff, out);
	case OUTPUT_HTML:
		return encode_html(output, shown, out);
	case OUTPUT_VIEW:
		return encode_view(output, shown, out);
	case OUTPUT_CSV:
		return diff_csv_encode(output->diff, output->functions, out);
	default:
		return -EOPNOTSUPP;
	}
}

static int write_one(const struct diff_output *output, const struct shown *shown, const char *path,
		     struct strbuf *body)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(body->max);
	bool is_stdout = output_is_stdout(path);
	enum output_format format;

	int r = output_format_of(path, output->options->output_format, &format);
	if (r == 0)
		r = encode(output, shown, format, is_stdout ? body : &out);
	return r < 0 || is_stdout ? r : output_write_bytes(path, out.data, out.len);
}

static int write_file(const struct diff_output *output, const struct shown *shown, const char *path,
		      struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = write_one(output, shown, path, &answer->body);
	if (r == -EOPNOTSUPP || r == -EINVAL) {
		strbuf_appendf(&answer->messages,
			       "cannot write %s: a comparison can be .html, .svg, .folded or "
			       ".csv\n",
			       path);
		return STATUS_USAGE;
	}
	if (r == 0)
		return STATUS_OK;
	output_file_explain(path, r, &message);
	strbuf_appendf(&answer->messages, "cannot write %s: %s\n", path, strbuf_str(&message));
	return STATUS_FAILED;
}

int diff_output_write(const struct diff_output *output, struct answer *answer)
{
	_cleanup_(shown_done) struct shown shown = { 0 };
	const struct string_list *paths = &output->options->outputs;
	int status = STATUS_OK;

	if (paths->nr == 0)
		return STATUS_OK;
	int r = shown_init(output, &shown);
	if (r < 0)
		return answer_fail(answer, "cannot compare", r);
	for (size_t i = 0; i < paths->nr; i++) {
		int one = write_file(output, &shown, paths->items[i], answer);

		status = status == STATUS_OK ? one : status;
	}
	return status;
}

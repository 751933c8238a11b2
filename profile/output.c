/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/output.h"

#include "base/fileio.h"
#include "base/gzip.h"
#include "base/output_file.h"
#include "base/strview.h"
#include "profile/csv.h"
#include "profile/firefox.h"
#include "profile/folded.h"
#include "profile/html.h"
#include "profile/json_profile.h"
#include "profile/pprof.h"
#include "profile/speedscope.h"
#include "profile/svg.h"
#include "profile/viewer_page.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_MAX_BYTES ((size_t)1 << 30)

static const struct {
	const char *word;
	const char *extension;
} formats[] = {
	[OUTPUT_FOLDED] = { "folded", ".folded" },
	[OUTPUT_PPROF] = { "pprof", ".pb.gz" },
	[OUTPUT_SVG] = { "svg", ".svg" },
	[OUTPUT_HTML] = { "html", ".html" },
	[OUTPUT_SPEEDSCOPE] = { "speedscope", ".speedscope.json" },
	[OUTPUT_FIREFOX] = { "firefox", ".firefox.json" },
	[OUTPUT_JSON] = { "json", ".json" },
	[OUTPUT_CSV] = { "csv", ".csv" },
	[OUTPUT_VIEW] = { "view", ".view.json" },
};

/* The first one that matches counts. */
static const struct {
	const char *extension;
	enum output_format format;
	bool is_compressed; /* besides what the format does */
} extensions[] = {
	{ ".svg", OUTPUT_SVG, false },
	{ ".html", OUTPUT_HTML, false },
	{ ".pb.gz", OUTPUT_PPROF, false },
	{ ".pprof", OUTPUT_PPROF, false },
	{ ".folded", OUTPUT_FOLDED, false },
	{ ".txt", OUTPUT_FOLDED, false },
	{ ".speedscope.json", OUTPUT_SPEEDSCOPE, false },
	{ ".speedscope.json.gz", OUTPUT_SPEEDSCOPE, true },
	{ ".firefox.json", OUTPUT_FIREFOX, false },
	{ ".firefox.json.gz", OUTPUT_FIREFOX, true },
	{ ".view.json", OUTPUT_VIEW, false },
	{ ".view.json.gz", OUTPUT_VIEW, true },
	{ ".json", OUTPUT_JSON, false },
	{ ".json.gz", OUTPUT_JSON, true },
	{ ".csv", OUTPUT_CSV, false },
};

/* Returns the index of a name's extension, or a number behind the last one. */
static size_t find_extension(const char *path)
{
	const struct strview name = strview_of(path, SIZE_MAX);
	size_t i = 0;

	while (i < array_len(extensions) && !strview_ends_with(name, extensions[i].extension))
		i++;
	return i;
}

bool output_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

const char *output_format_from_name(const char *path)
{
	size_t i = find_extension(path);

	if (output_is_stdout(path))
		return "";
	return i < array_len(extensions) ? formats[extensions[i].format].word : NULL;
}

int output_format_of(const char *path, const char *word, enum output_format *ret_format)
{
	const char *told = output_format_from_name(path);

	if (told && *told)
		word = told;
	else if (told && !word)
		word = formats[OUTPUT_FOLDED].word;
	for (size_t i = 0; word && i < array_len(formats); i++) {
		if (strcmp(formats[i].word, word) == 0) {
			*ret_format = (enum output_format)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *output_extension_of(enum output_format format)
{
	return formats[format].extension;
}

const char *output_extensions(void)
{
	return ".html, .svg, .pb.gz, .pprof, .folded, .txt, .speedscope.json, .firefox.json, .json "
	       "or .csv";
}

struct output_content output_content_of(const struct profile *profile)
{
	static const struct view plain = { .kernel = VIEW_KERNEL_ALL };

	return (struct output_content){ .profile = profile, .shown = profile, .view = &plain };
}

/* The viewer makes views itself, so it gets the profile that there was before. */
static int encode_viewer(const struct output_content *content, const struct caption *caption,
			 bool is_page, struct strbuf *out)
{
	struct caption noted = *caption;
	const struct viewer_content viewer = {
		.profile = content->profile,
		.view = content->view,
		.caption = &noted,
	};

	noted.note = content->note;
	return is_page ? viewer_page_encode(&viewer, out) : viewer_data_encode(&viewer, out);
}

static int encode_html(const struct output_content *content, const struct caption *caption,
		       struct strbuf *out)
{
	if (!viewer_page_is_built())
		return html_encode(content->shown, caption, out);
	return encode_viewer(content, caption, /* is_page= */ true, out);
}

static int encode_pprof(const struct output_content *content, const struct caption *caption,
			struct strbuf *out)
{
	if (content->contentions)
		return pprof_encode_waits_gzip(content->contentions, content->shown, caption, out);
	return pprof_encode_gzip(content->shown, caption, out);
}

int output_encode(const struct output_content *content, enum output_format format,
		  const struct caption *caption, struct strbuf *out)
{
	const struct profile *profile = content->shown;

	switch (format) {
	case OUTPUT_FOLDED:
		return folded_encode(profile, out);
	case OUTPUT_PPROF:
		return encode_pprof(content, caption, out);
	case OUTPUT_SVG:
		return svg_encode(profile, caption, out);
	case OUTPUT_HTML:
		return encode_html(content, caption, out);
	case OUTPUT_SPEEDSCOPE:
		return speedscope_encode(profile, caption, out);
	case OUTPUT_FIREFOX:
		return firefox_encode(profile, caption, out);
	case OUTPUT_JSON:
		return json_profile_encode(profile, caption, out);
	case OUTPUT_CSV:
		return csv_encode(profile, out);
	case OUTPUT_VIEW:
		return encode_viewer(content, caption, /* is_page= */ false, out);
	}
	return -EINVAL;
}

int output_write_bytes(const char *path, const void *data, size_t len)
{
	if (output_is_stdout(path)) /* -1: no time limit, since a pager may block */
		return fd_write_within(STDOUT_FILENO, data, len, -1);
	return output_file_write(path, data, len);
}

static bool is_compressed(const char *path)
{
	size_t i = find_extension(path);

	return i < array_len(extensions) && extensions[i].is_compressed;
}

static int compress(struct strbuf *out)
{
	struct strbuf plain = *out;

	*out = strbuf_with_max(OUTPUT_MAX_BYTES);
	gzip_append(out, plain.data, plain.len);
	strbuf_done(&plain);
	return strbuf_error(out);
}

int output_write(const struct output_content *content, const char *path, enum output_format format,
		 const struct caption *caption)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUTPUT_MAX_BYTES);

	int r = output_encode(content, format, caption, &out);
	if (r == 0 && is_compressed(path))
		r = compress(&out);
	return r < 0 ? r : output_write_bytes(path, out.data, out.len);
}

/* If standard output was closed at the start, a file opened since may have its descriptor number.
 * Such files are open for reading only, so O_RDONLY means "closed". */
static int check_stdout(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

int output_check(const char *path)
{
	return output_is_stdout(path) ? check_stdout() : output_file_check(path);
}

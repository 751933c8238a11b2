/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/output.h"

#include "base/fileio.h"
#include "base/output_file.h"
#include "base/strview.h"
#include "profile/folded.h"
#include "profile/pprof.h"
#include "profile/svg.h"

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
};

static const struct {
	const char *extension;
	enum output_format format;
} extensions[] = {
	{ ".svg", OUTPUT_SVG },	      { ".pb.gz", OUTPUT_PPROF }, { ".pprof", OUTPUT_PPROF },
	{ ".folded", OUTPUT_FOLDED }, { ".txt", OUTPUT_FOLDED },
};

bool output_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

const char *output_format_from_name(const char *path)
{
	const struct strview name = strview_of(path, SIZE_MAX);

	if (output_is_stdout(path))
		return "";
	for (size_t i = 0; i < array_len(extensions); i++)
		if (strview_ends_with(name, extensions[i].extension))
			return formats[extensions[i].format].word;
	return NULL;
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
	return ".svg, .pb.gz, .pprof, .folded or .txt";
}

int output_encode(const struct profile *profile, enum output_format format,
		  const struct caption *caption, struct strbuf *out)
{
	switch (format) {
	case OUTPUT_FOLDED:
		return folded_encode(profile, out);
	case OUTPUT_PPROF:
		return pprof_encode_gzip(profile, caption, out);
	case OUTPUT_SVG:
		return svg_encode(profile, caption, out);
	}
	return -EINVAL;
}

int output_write(const struct profile *profile, const char *path, enum output_format format,
		 const struct caption *caption)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUTPUT_MAX_BYTES);

	int r = output_encode(profile, format, caption, &out);
	if (r < 0)
		return r;
	if (output_is_stdout(path)) /* -1: no time limit, since a pager may block */
		return fd_write_within(STDOUT_FILENO, out.data, out.len, -1);
	return output_file_write(path, out.data, out.len);
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

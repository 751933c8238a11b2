/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/output.h"

#include "base/fileio.h"
#include "base/output_file.h"
#include "profile/folded.h"
#include "profile/pprof.h"
#include "profile/svg.h"

#include <stdbool.h>
#include <string.h>

#define OUTPUT_MAX_BYTES ((size_t)1 << 30)

static const struct {
	const char *extension;
	enum output_format format;
} extensions[] = {
	{ ".svg", OUTPUT_SVG },	      { ".pb.gz", OUTPUT_PPROF }, { ".pprof", OUTPUT_PPROF },
	{ ".folded", OUTPUT_FOLDED }, { ".txt", OUTPUT_FOLDED },
};

static bool ends_with(const char *text, const char *end)
{
	size_t text_len = strlen(text), end_len = strlen(end);

	return text_len >= end_len && strcmp(text + text_len - end_len, end) == 0;
}

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

int output_format_of(const char *path, enum output_format *ret_format)
{
	if (is_stdout(path)) {
		*ret_format = OUTPUT_FOLDED;
		return 0;
	}
	for (size_t i = 0; i < array_len(extensions); i++) {
		if (ends_with(path, extensions[i].extension)) {
			*ret_format = extensions[i].format;
			return 0;
		}
	}
	return -EINVAL;
}

const char *output_extensions(void)
{
	return ".svg, .pb.gz or .pprof, .folded or .txt";
}

int output_encode(const struct profile *profile, enum output_format format,
		  const struct output_info *info, struct strbuf *out)
{
	switch (format) {
	case OUTPUT_FOLDED:
		return folded_encode(profile, out);
	case OUTPUT_PPROF:
		return pprof_encode_gzip(profile, info, out);
	case OUTPUT_SVG:
		return svg_encode(profile, info, out);
	}
	return -EINVAL;
}

int output_write(const struct profile *profile, const char *path, const struct output_info *info)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUTPUT_MAX_BYTES);
	enum output_format format;

	int r = output_format_of(path, &format);
	if (r < 0)
		return r;
	r = output_encode(profile, format, info, &out);
	if (r < 0)
		return r;
	if (is_stdout(path)) /* a pager may take its time */
		return fd_write_within(STDOUT_FILENO, out.data, out.len, -1);
	return output_file_write(path, out.data, out.len);
}

int output_check(const char *path)
{
	return is_stdout(path) ? 0 : output_file_check(path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as files; the format follows the file's extension. */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

enum output_format { OUTPUT_FOLDED, OUTPUT_PPROF, OUTPUT_SVG };

/* By extension: .pb.gz and .pprof; .folded and .txt; .svg. "-" is folded text. Errors: -EINVAL. */
int output_format_of(const char *path, enum output_format *ret_format) must_check;

/* The extensions above in one line, for messages. */
const char *output_extensions(void);

/* What a picture or file says about where it comes from. All borrowed; none but the subject may be NULL. */
struct output_info {
	const char *subject; /* "whole machine"; NULL: it is not told */
	const char *title; /* "whole machine, 10 s at 99 Hz" */
	const char *subtitle; /* command line, host, kernel, version */
};

/* Appends the profile in that format. Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int output_encode(const struct profile *profile, enum output_format format,
		  const struct output_info *info, struct strbuf *out) must_check;

/* Whether a file could be written now; "-" is standard output. Errors: those of output_file_check(), and
 * output_file_explain() says what they mean. */
int output_check(const char *path) must_check;

/* Encodes and writes a file, whole or not at all unless it is written in place; "-" is standard output. Errors: -EINVAL
 * for the extension, -EINTR a signal came while standard output took nothing, else what the encoder and
 * output_file_write() say. */
int output_write(const struct profile *profile, const char *path, const struct output_info *info)
	must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as files. The format follows the file's extension; the caller names it when the
 * extension is not known. */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

#include <stdbool.h>

enum output_format { OUTPUT_FOLDED, OUTPUT_PPROF, OUTPUT_SVG };

/* Whether the profile goes to standard output: "-" and "/dev/stdout". */
bool output_is_stdout(const char *path);

/* The word for the format that a name tells by its extension: "pprof" for .pb.gz and .pprof,
 * "folded" for .folded and .txt, "svg" for .svg. "" for standard output, which may have any; NULL
 * for all other names. */
const char *output_format_told(const char *path);

/* The format that a name tells, else that of `word` (one of the above, or NULL); without a word
 * standard output has folded text. Errors: -EINVAL neither tells. */
int output_format_of(const char *path, const char *word, enum output_format *ret_format) must_check;

/* The extension that files of the format have by default: ".svg". */
const char *output_extension_of(enum output_format format);

/* The extensions above in one line, for messages. */
const char *output_extensions(void);

/* Appends the profile in that format. Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int output_encode(const struct profile *profile, enum output_format format,
		  const struct caption *caption, struct strbuf *out) must_check;

/* Whether an output could be written now. Errors: -EBADF standard output is closed, else those of
 * output_file_check(), and output_file_explain() says what they mean. */
int output_check(const char *path) must_check;

/* Encodes and writes an output, a file whole or not at all unless it is written in place. Errors:
 * -EINTR a signal came while standard output took nothing, else what the encoder and
 * output_file_write() say. */
int output_write(const struct profile *profile, const char *path, enum output_format format,
		 const struct caption *caption) must_check;

#endif

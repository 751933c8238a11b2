/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles to files or standard output. The extension of the file decides the format; for
 * other names the caller gives it. */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

#include <stdbool.h>

enum output_format { OUTPUT_FOLDED, OUTPUT_PPROF, OUTPUT_SVG };

/* Returns whether the path is standard output: "-" or "/dev/stdout". */
bool output_is_stdout(const char *path);

/* Returns the word for the format of a name's extension: "pprof" for .pb.gz and .pprof, "folded"
 * for .folded and .txt, "svg" for .svg. "" for standard output, which may have any format; NULL for
 * other names. */
const char *output_format_from_name(const char *path);

/* Finds the format by the name's extension, else by `word` (one of the above, or NULL). Without a
 * word, standard output gets folded text. Errors: -EINVAL the format is unknown. */
int output_format_of(const char *path, const char *word, enum output_format *ret_format) must_check;

/* Returns the default extension of a format: ".svg". */
const char *output_extension_of(enum output_format format);

/* Returns all known extensions as one string, for messages. */
const char *output_extensions(void);

/* Appends the profile in that format. Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int output_encode(const struct profile *profile, enum output_format format,
		  const struct caption *caption, struct strbuf *out) must_check;

/* Checks whether an output could be written now. Errors: -EBADF standard output is closed, else
 * those of output_file_check(), which output_file_explain() describes. */
int output_check(const char *path) must_check;

/* Encodes and writes an output: regular files atomically; FIFOs, devices and standard output in
 * place. Errors: -EINTR a signal came while standard output was blocked, else those of the encoder
 * and output_file_write(). */
int output_write(const struct profile *profile, const char *path, enum output_format format,
		 const struct caption *caption) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles to files or standard output. The extension of the file decides the format; for
 * other names the caller gives it. */
#ifndef PROFILE_OUTPUT_H
#define PROFILE_OUTPUT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"
#include "profile/view.h"

#include <stdbool.h>

enum output_format {
	OUTPUT_FOLDED,
	OUTPUT_PPROF,
	OUTPUT_SVG,
	OUTPUT_HTML,
	OUTPUT_SPEEDSCOPE,
	OUTPUT_FIREFOX,
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_VIEW, /* what the viewer shows (profile/viewer_data.h) */
};

/* Returns whether the path is standard output: "-" or "/dev/stdout". */
bool output_is_stdout(const char *path);

/* Returns the word for the format of a name's extension: "pprof" for .pb.gz and .pprof, "folded"
 * for .folded and .txt, "speedscope" for .speedscope.json and so on. "" for standard output, which
 * may have any format; NULL for other names. */
const char *output_format_from_name(const char *path);

/* Finds the format by the name's extension, else by `word` (one of the above, or NULL). Without a
 * word, standard output gets folded text. Errors: -EINVAL the format is unknown. */
int output_format_of(const char *path, const char *word, enum output_format *ret_format) must_check;

/* Returns the default extension of a format: ".svg". */
const char *output_extension_of(enum output_format format);

/* Returns all known extensions as one string, for messages. */
const char *output_extensions(void);

/* What is written; all members are borrowed. */
struct output_content {
	const struct profile *profile; /* as it was sampled or queried */
	const struct profile *shown; /* its view */
	const struct view *view;
	const char *note; /* sentences about what `profile` lacks; NULL: nothing */
	/* The view of the number of waits for locks whose time `profile` has; NULL: not known */
	const struct profile *contentions;
};

/* Returns the content of a profile of which no view was made, which is only for the time that the
 * profile lives. */
struct output_content output_content_of(const struct profile *profile);

/* Appends the profile in that format. Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int output_encode(const struct output_content *content, enum output_format format,
		  const struct caption *caption, struct strbuf *out) must_check;

/* Checks whether an output could be written now. Errors: -EBADF standard output is closed, else
 * those of output_file_check(), which output_file_explain() describes. */
int output_check(const char *path) must_check;

/* Writes what was encoded. Errors: as below, without those of the encoder. */
int output_write_bytes(const char *path, const void *data, size_t len) must_check;

/* Encodes and writes an output, compressed if its name says so (.json.gz): regular files
 * atomically; FIFOs, devices and standard output in place. Errors: -EINTR a signal came while
 * standard output was blocked, else those of the encoder and output_file_write(). */
int output_write(const struct output_content *content, const char *path, enum output_format format,
		 const struct caption *caption) must_check;

#endif

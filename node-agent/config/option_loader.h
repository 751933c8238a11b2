/* SPDX-License-Identifier: Apache-2.0 */
/* How options.c and the readers of its sources work together. The sources are read from the strongest to the
 * weakest; an option belongs to the first one that sets it, and what weaker ones say of it is passed over. A list
 * that the file gives is thus replaced, not extended, by the command line. */
#ifndef CONFIG_OPTION_LOADER_H
#define CONFIG_OPTION_LOADER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/option_table.h"
#include "config/options.h"

#define OPTION_TEXT_MAX_BYTES 4096

enum source {
	SOURCE_NONE,
	SOURCE_COMMAND_LINE,
	SOURCE_FILE,
	SOURCE_ENVIRONMENT,
	SOURCE_CLUSTER,
	SOURCE_DEFAULT,
};

/* All borrowed. */
struct loader {
	const struct options_input *input;
	struct options *options;
	enum source owners[OPTION_ROWS_MAX]; /* of the table's rows */
	struct strbuf *message;
	struct strbuf *warnings;
};

/* Sets an option from text unless a stronger source has; `where` is the option or line as the user knows it, for the
 * message. Errors: -EINVAL with a message, -ENOMEM. */
int loader_set(struct loader *loader, const struct option *option, enum source source,
	       const char *where, const char *text) must_check;

/* Tells why value_store() refused a text. Returns -EINVAL or -ENOMEM. */
int loader_explain(struct loader *loader, const struct option *option, const char *where,
		   const char *text, int error) must_check;

/* Adds to what is told of a load that succeeds. */
void loader_warn(struct loader *loader, const char *format, ...) printf_like(2, 3);

/* Who set the option of that name. */
enum source loader_source_of(const struct loader *loader, const char *name);

/* The sources. Errors as above. */
int loader_read_command_line(struct loader *loader) must_check;
int loader_read_file(struct loader *loader) must_check;
int loader_read_environment(struct loader *loader) must_check;
int loader_read_cluster(struct loader *loader) must_check;
int loader_read_defaults(struct loader *loader) must_check;

/* Adds what OpenTelemetry's variables say of resources. Errors: -ENOMEM. */
int loader_read_attributes(struct loader *loader) must_check;

/* No key twice. The message has `prefix` before the option's name. Errors as above. */
int loader_check_attributes(struct loader *loader, const char *prefix) must_check;

/* Whether OpenTelemetry's variables say that gRPC to HOST:PORT has no TLS. */
bool loader_wants_plain(struct loader *loader);

/* Reads a file that may have a command's options, or only those of a destination. Errors as above. */
int loader_read_entries(struct loader *loader, const char *path, bool is_destination) must_check;

/* Completes options->export once all sources are read. Messages have `prefix` before an option's name; `is_plain` says
 * that gRPC to HOST:PORT has no TLS. Errors as above. */
int loader_check_export(struct loader *loader, const char *prefix, bool is_plain) must_check;

/* Fills options->others. Errors as above. */
int loader_read_destinations(struct loader *loader) must_check;

bool destination_equal(const struct destination *a, const struct destination *b);
void destination_done(struct destination *export);

#endif

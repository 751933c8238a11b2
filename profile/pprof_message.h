/* SPDX-License-Identifier: Apache-2.0 */
/* A pprof message, found its way through: where its strings, samples and the elements of its tables
 * are. The bytes may be anybody's; nothing is copied, elements are decoded when they are asked for.
 *
 * Everything that fails says why, in one line, in `reason`: -EBADMSG for what is not a pprof
 * message, -EFBIG for what is too large, -ENOMEM. */
#ifndef PROFILE_PPROF_MESSAGE_H
#define PROFILE_PPROF_MESSAGE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define PPROF_MAX_TYPES 64 /* of samples */
#define PPROF_MAX_FRAMES 2048 /* of a stack, leaf first; what is behind is left out */
#define PPROF_MAX_LABELS 256 /* of a sample */

/* Bytes of the message. */
struct pprof_span {
	uint32_t at;
	uint32_t len;
};

struct pprof_spans {
	struct pprof_span *items; /* owned */
	size_t nr, cap;
};

struct pprof_element {
	uint64_t id; /* any number but 0 */
	struct pprof_span span;
};

struct pprof_table {
	const char *name; /* of an element */
	struct pprof_element *items; /* owned */
	size_t nr, cap;
	struct htable index; /* by id; of those whose id is not their number + 1 */
};

struct pprof_value_type {
	uint64_t type; /* strings */
	uint64_t unit;
};

struct pprof_message {
	const unsigned char *data; /* borrowed */
	size_t len;
	struct strbuf *reason; /* borrowed */
	struct pprof_value_type types[PPROF_MAX_TYPES];
	size_t nr_types;
	struct pprof_value_type period_type;
	uint64_t period;
	uint64_t time_unix_ns;
	uint64_t duration_ns;
	struct pprof_spans strings;
	struct pprof_spans samples;
	struct pprof_table mappings;
	struct pprof_table locations;
	struct pprof_table functions;
};

struct pprof_label_pair {
	uint64_t key; /* string */
	uint64_t text; /* string; 0: it is a number */
	uint64_t number;
};

struct pprof_sample {
	uint64_t locations[PPROF_MAX_FRAMES]; /* ids */
	size_t nr_locations; /* all of them, those that are left out included */
	uint64_t values[PPROF_MAX_TYPES]; /* one a type; negative ones in two's complement */
	size_t nr_values;
	struct pprof_label_pair labels[PPROF_MAX_LABELS];
	size_t nr_labels;
};

struct pprof_mapping {
	uint64_t start;
	uint64_t limit;
	uint64_t offset; /* of `start`, in the file */
	uint64_t filename; /* strings */
	uint64_t build_id;
};

struct pprof_location {
	uint64_t mapping; /* id; 0: none */
	uint64_t address;
	struct pprof_span span; /* of the location, for pprof_next_line() */
};

struct pprof_function {
	uint64_t name; /* strings */
	uint64_t system_name;
	uint64_t filename;
	uint64_t start_line;
};

struct pprof_line {
	uint64_t function; /* id; 0: none */
	uint64_t line;
};

/* Finds everything in the message, which stays borrowed, as `reason` does. */
int pprof_message_init(struct pprof_message *message, const void *data, size_t len,
		       struct strbuf *reason) must_check;
void pprof_message_done(struct pprof_message *message);

/* Says why, in `reason`, and returns the error. */
int pprof_fail(const struct pprof_message *message, int error, const char *format, ...)
	printf_like(3, 4) must_check;

/* Makes `text` a string of the table, as far as its first NUL. */
int pprof_get_string(const struct pprof_message *message, uint64_t number, struct strbuf *text)
	must_check;

/* The element's number in its table; -ENOENT, without a reason, when it is not there. */
int pprof_find(const struct pprof_table *table, uint64_t id, uint32_t *ret_element) must_check;

/* These fill what they are given; after a failure it holds nothing of use. */
int pprof_get_sample(const struct pprof_message *message, size_t number,
		     struct pprof_sample *sample) must_check;
int pprof_get_mapping(const struct pprof_message *message, uint32_t element,
		      struct pprof_mapping *mapping) must_check;
int pprof_get_location(const struct pprof_message *message, uint32_t element,
		       struct pprof_location *location) must_check;
int pprof_get_function(const struct pprof_message *message, uint32_t element,
		       struct pprof_function *function) must_check;

/* 1 and the next line of a location, innermost first, or 0; `rest` begins as the location's
 * span. */
int pprof_next_line(const struct pprof_message *message, struct pprof_span *rest,
		    struct pprof_line *line) must_check;

#endif

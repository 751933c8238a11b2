/* SPDX-License-Identifier: Apache-2.0 */
/* An index of a pprof message: the positions of its strings, samples and table elements. The bytes
 * are untrusted. Nothing is copied, and elements are decoded when they are requested.
 *
 * Every function that fails writes one line to `reason`. Errors: -EBADMSG not a pprof message,
 * -EFBIG too large, -ENOMEM. */
#ifndef PROFILE_PPROF_MESSAGE_H
#define PROFILE_PPROF_MESSAGE_H

#include "base/err.h"
#include "base/htable.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define PPROF_MAX_TYPES 64 /* of samples */
#define PPROF_MAX_FRAMES 2048 /* of a stack, leaf first; further frames are omitted */
#define PPROF_MAX_LABELS 256 /* of a sample */

/* Part of the message. */
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
	size_t nr_locations; /* including omitted ones */
	uint64_t values[PPROF_MAX_TYPES]; /* one per type; negative ones in two's complement */
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

/* Indexes the message. `data` and `reason` stay borrowed. */
int pprof_message_init(struct pprof_message *message, const void *data, size_t len,
		       struct strbuf *reason) must_check;
void pprof_message_done(struct pprof_message *message);

/* Writes the reason and returns the error. */
int pprof_fail(const struct pprof_message *message, int error, const char *format, ...)
	printf_like(3, 4) must_check;

/* Sets `text` to a string of the table, up to its first NUL. */
int pprof_get_string(const struct pprof_message *message, uint64_t number, struct strbuf *text)
	must_check;

/* Finds an element's number in its table. Errors: -ENOENT, without a reason. */
int pprof_find(const struct pprof_table *table, uint64_t id, uint32_t *ret_element) must_check;

/* Decode an element. After a failure, the result is undefined. */
int pprof_get_sample(const struct pprof_message *message, size_t number,
		     struct pprof_sample *sample) must_check;
int pprof_get_mapping(const struct pprof_message *message, uint32_t element,
		      struct pprof_mapping *mapping) must_check;
int pprof_get_location(const struct pprof_message *message, uint32_t element,
		       struct pprof_location *location) must_check;
int pprof_get_function(const struct pprof_message *message, uint32_t element,
		       struct pprof_function *function) must_check;

/* Reads the next line of a location, innermost first. Returns 1, or 0 at the end. `rest` is
 * initially the location's span. */
int pprof_next_line(const struct pprof_message *message, struct pprof_span *rest,
		    struct pprof_line *line) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ProfilesDictionary: the tables of an OTLP profiles request, each distinct element once.
 *
 * An element is its own encoded message: two are equal when their bytes are, whatever their type,
 * and a finished table is the concatenation of its rows. Element 0 of every table is the empty
 * message, so that an element which turns out empty gets number 0 by itself.
 *
 * As with a strbuf, the first failure is kept, further additions return 0, and the caller checks
 * once. */
#ifndef OTLP_ENCODE_DICTIONARY_H
#define OTLP_ENCODE_DICTIONARY_H

#include "base/err.h"
#include "base/htable.h"
#include "base/intern.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Field numbers of ProfilesDictionary. */
enum dictionary_table {
	DICTIONARY_MAPPING = 1,
	DICTIONARY_LOCATION = 2,
	DICTIONARY_FUNCTION = 3,
	DICTIONARY_LINK = 4,
	DICTIONARY_STRING = 5,
	DICTIONARY_ATTRIBUTE = 6,
	DICTIONARY_STACK = 7,
};

#define DICTIONARY_NR_TABLES 8 /* 0 is unused */

struct dictionary_row {
	size_t start; /* of the message in `bytes` */
	size_t len;
};

struct dictionary_rows {
	struct strbuf bytes; /* tag, length and message of each row */
	struct htable index; /* by the message's hash */
	struct dictionary_row *rows; /* owned */
	size_t nr_rows, cap_rows;
};

struct dictionary {
	struct intern strings; /* number 0 is "" here too */
	struct dictionary_rows tables[DICTIONARY_NR_TABLES]; /* all but DICTIONARY_STRING */
	struct strbuf clean; /* scratch for strings that are not printable */
	int error;
};

/* No table grows over `max_bytes`; strings, which come from a bounded profile, have no limit of
 * their own. Errors: -ENOSPC, -ENOMEM. */
int dictionary_init(struct dictionary *dictionary, size_t max_bytes) must_check;
void dictionary_done(struct dictionary *dictionary);

/* Adds a string, made printable. Returns its number. */
uint32_t dictionary_add_string(struct dictionary *dictionary, const char *text);

/* Adds an element with that message, which is not a string. Returns its number. */
uint32_t dictionary_add(struct dictionary *dictionary, enum dictionary_table table,
			const struct strbuf *message);

/* Writes all tables as the content of a ProfilesDictionary. */
void dictionary_encode(const struct dictionary *dictionary, struct strbuf *out);

/* Returns the first failure, or 0: -ENOSPC, -ENOMEM. */
int dictionary_error(const struct dictionary *dictionary) must_check;

#endif

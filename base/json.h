/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text as a tree of values, within a limit of memory.
 *
 * A value that is missing or of another type is no error: json_find() returns NULL for a NULL
 * object, json_text() returns NULL for a value that is not a string, and a value that is neither
 * an array nor an object has no children. Any number of threads may parse at the same time; a
 * tree belongs to one thread. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct json_value;

/* Parses `text`, which must be one JSON value and white space, into a tree that the caller
 * frees. Before anything is allocated the memory that a tree of this text could need is
 * estimated; the estimate is never too low.
 * Errors: -ENOSPC if it is more than `max_bytes`; -EBADMSG if the text is not JSON, or there is
 * no memory for its tree, which the parser does not tell apart. */
int json_parse(const char *text, size_t len, size_t max_bytes, struct json_value **ret_root)
	must_check;
void json_free(struct json_value *root);
DEFINE_FREEP(struct json_value, json_free)

/* Member `name` of an object, upper and lower case being different; NULL if there is none. */
const struct json_value *json_find(const struct json_value *object, const char *name);

/* The text of a string, borrowed from the tree; NULL if the value is not a string. */
const char *json_text(const struct json_value *value);

/* Copies a number; false if the value is not a number. */
bool json_number(const struct json_value *value, double *ret_number);

bool json_is_true(const struct json_value *value);

/* The children of an array or object, in the order of the text. */
size_t json_nr_children(const struct json_value *value);
const struct json_value *json_first_child(const struct json_value *value);
const struct json_value *json_next_sibling(const struct json_value *value);
#define json_for_each(child, parent)                                                               \
	for ((child) = json_first_child(parent); child; (child) = json_next_sibling(child))

/* The name of a member of an object; NULL for any other value. */
const char *json_key(const struct json_value *value);

#endif

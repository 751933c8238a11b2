/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a Kubernetes list, {"kind": …, "items": [ … ]}, into its items as it comes in. The text may
 * come in pieces of any size, and only one item is in memory at a time. Brackets, commas and quotes
 * are checked everywhere; the strings and numbers of an item are checked by who reads it. */
#ifndef K8S_JSON_ITEMS_H
#define K8S_JSON_ITEMS_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 256 /* a pod nests some twenty deep */
#define JSON_TOKEN_MAX 15 /* bytes kept of "kind", a key or a literal: "PodList" and "false" fit */

struct json_items_opts {
	size_t item_max_bytes;
	/* Called with the JSON text of each item, NUL-terminated; an error ends the reading. */
	int (*take)(const char *text, size_t len, void *data);
	void *data;
};

struct json_token {
	char text[JSON_TOKEN_MAX + 1];
	size_t len; /* all of it: more than JSON_TOKEN_MAX when it was cut */
};

/* All fields but nr_oversized and kind are private. */
struct json_items {
	struct json_items_opts opts;
	size_t nr_oversized; /* items that were longer than item_max_bytes, not taken */
	struct json_token kind; /* without quotes; empty when it was not there or no string */

	int error; /* the first one; all that follows fails alike */
	uint8_t expected; /* enum expected */
	uint8_t lexeme; /* enum lexeme: what the last byte was in */
	bool is_key; /* the string at hand */
	bool has_items;
	bool is_in_items;
	bool is_in_item;
	size_t depth;
	char closers[JSON_DEPTH_MAX]; /* the bracket that ends each level */
	struct json_token token; /* the string or literal at hand, or the last one */
	struct json_token key; /* the last one of the outermost object */
	struct strbuf item; /* what came of the item at hand */
};

void json_items_init(struct json_items *items, const struct json_items_opts *opts);
void json_items_done(struct json_items *items);

/* The next piece of text. Errors: -EBADMSG, -ENOMEM, and those of take(). */
int json_items_feed(struct json_items *items, const char *text, size_t len) must_check;

/* The text is at its end. Errors: as above; -EBADMSG also when it is not whole or has no items. */
int json_items_finish(struct json_items *items) must_check;

#endif

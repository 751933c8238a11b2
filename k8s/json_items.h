/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a Kubernetes list, {"kind": …, "items": [ … ]}, into its items while it is received. The
 * text may arrive in pieces of any size, and only one item is in memory at a time. The nesting
 * and the punctuation are checked everywhere. Escape sequences and numbers are not: the reader of
 * an item checks those inside it, and nobody checks those outside (12zz passes). */
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
	/* Called with the JSON text of each item, NUL-terminated. If it returns an error, reading
	 * stops. */
	int (*on_item)(const char *text, size_t len, void *data);
	void *data;
};

struct json_token {
	char text[JSON_TOKEN_MAX + 1];
	size_t len; /* full length; if it exceeds JSON_TOKEN_MAX, `text` is truncated */
};

/* All fields but nr_oversized and kind are private. */
struct json_items {
	struct json_items_opts opts;
	size_t nr_oversized; /* items that were longer than item_max_bytes, not taken */
	struct json_token kind; /* without quotes; empty if it is missing or not a string */

	int error; /* the first failure, which all further calls return */
	uint8_t expected; /* enum expected */
	uint8_t lexeme; /* enum lexeme: kind of token that contains the last byte */
	bool is_key; /* the current string is a key */
	bool has_items;
	bool is_in_items;
	bool is_in_item;
	size_t depth;
	char closers[JSON_DEPTH_MAX]; /* the bracket that ends each level */
	struct json_token token; /* the current or last string or literal */
	struct json_token key; /* last key of the outermost object */
	struct strbuf item; /* part of the current item that has arrived */
};

void json_items_init(struct json_items *items, const struct json_items_opts *opts);
void json_items_done(struct json_items *items);

/* Reads the next piece of text. Errors: -EBADMSG, -ENOMEM, and those of on_item(). */
int json_items_feed(struct json_items *items, const char *text, size_t len) must_check;

/* Ends the text. Errors: as above; -EBADMSG also if it is incomplete or has no items. */
int json_items_finish(struct json_items *items) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows cJSON, and it leaves the library's allocator alone: that is a setting of
 * the whole process, and another thread may parse at the same time.
 *
 * A tree takes 6 to 7 times the memory of its text, and hostile text ("[0,0,0,…") 40 times as much.
 * So the memory is estimated before parsing, from two things outside of strings: each value but the
 * root follows a comma or an opening bracket, and each quote pair is a string. Text that is too
 * short to reach the limit is not scanned. */
#include "base/json.h"

#include <cjson/cJSON.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define ALLOCATION_BYTES ((size_t)32) /* what malloc(3) adds at most to a node or string */
#define NODE_BYTES (sizeof(cJSON) + ALLOCATION_BYTES)
#define TREE_BYTES_PER_BYTE (NODE_BYTES + 1) /* at most, of "[" or "," */

/* Skips the rest of a string and its closing quote; `text` is after the opening quote. */
static const char *skip_string(const char *text, const char *end)
{
	while (text < end && *text != '"')
		text += *text == '\\' && end - text > 1 ? 2 : 1;
	return text < end ? text + 1 : end;
}

/* Returns the maximum memory that a tree of this text takes. */
static size_t estimate_bytes(const char *text, size_t len)
{
	const char *end = text + len;
	size_t nr_nodes = 1, nr_strings = 0;

	while (text < end) {
		char c = *text++;

		nr_nodes += c == ',' || c == '[' || c == '{';
		if (c == '"') {
			nr_strings++;
			text = skip_string(text, end);
		}
	}
	return nr_nodes * NODE_BYTES + nr_strings * ALLOCATION_BYTES + len;
}

static bool fits(const char *text, size_t len, size_t max_bytes)
{
	if (len < max_bytes / TREE_BYTES_PER_BYTE) /* one byte less: the root's node */
		return true;
	return estimate_bytes(text, len) <= max_bytes;
}

static const cJSON *node_of(const struct json_value *value)
{
	return (const cJSON *)value;
}

static const struct json_value *value_of(const cJSON *node)
{
	return (const struct json_value *)node;
}

static bool is_blank(const char *text, const char *end)
{
	while (text < end && strchr(BLANKS, *text) && *text)
		text++;
	return text == end;
}

int json_parse(const char *text, size_t len, size_t max_bytes, struct json_value **ret_root)
{
	const char *rest = NULL;

	if (!fits(text, len, max_bytes))
		return -ENOSPC;
	cJSON *root = cJSON_ParseWithLengthOpts(text, len, &rest, false);
	if (!root)
		return -EBADMSG;
	if (!is_blank(rest, text + len)) {
		cJSON_Delete(root);
		return -EBADMSG;
	}
	*ret_root = (struct json_value *)root;
	return 0;
}

void json_free(struct json_value *root)
{
	cJSON_Delete((cJSON *)root);
}

const struct json_value *json_find(const struct json_value *object, const char *name)
{
	return value_of(cJSON_GetObjectItemCaseSensitive(node_of(object), name));
}

const char *json_text(const struct json_value *value)
{
	return cJSON_GetStringValue(node_of(value));
}

bool json_number(const struct json_value *value, double *ret_number)
{
	if (!cJSON_IsNumber(node_of(value)))
		return false;
	*ret_number = node_of(value)->valuedouble;
	return true;
}

bool json_is_true(const struct json_value *value)
{
	return cJSON_IsTrue(node_of(value));
}

size_t json_nr_children(const struct json_value *value)
{
	return (size_t)cJSON_GetArraySize(node_of(value));
}

const struct json_value *json_first_child(const struct json_value *value)
{
	return value ? value_of(node_of(value)->child) : NULL;
}

const struct json_value *json_next_sibling(const struct json_value *value)
{
	return value_of(node_of(value)->next);
}

const char *json_key(const struct json_value *value)
{
	return node_of(value)->string;
}

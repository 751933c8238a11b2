/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/json_message.h"

#include "base/json.h"

#include <string.h>

#define TREE_MAX_BYTES ((size_t)1 << 20)

char *json_message(const char *text, size_t len)
{
	_cleanup_(json_freep) struct json_value *object = NULL;

	if (json_parse(text, len, TREE_MAX_BYTES, &object) < 0)
		return NULL;
	const char *message = json_text(json_find(object, "message"));
	return message ? strdup(message) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/json_message.h"

#include <cjson/cJSON.h>
#include <string.h>

char *json_message(const char *text, size_t len)
{
	cJSON *object = cJSON_ParseWithLength(text, len);
	const char *message = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, "message"));
	char *copy = message ? strdup(message) : NULL;

	cJSON_Delete(object);
	return copy;
}

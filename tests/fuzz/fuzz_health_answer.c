/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/health_client.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct health_answer answer;

	if (health_answer_parse((const char *)data, size, &answer) < 0)
		return 0;
	for (const char *c = answer.text; *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			abort();
	if (answer.status > 999 || strlen(answer.text) >= HEALTH_TEXT_BYTES)
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/health_client.h"

#include "base/printable.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct health_answer answer;

	if (health_answer_parse((const char *)data, size, &answer) < 0)
		return 0;
	if (answer.status > 999 || strlen(answer.text) >= HEALTH_TEXT_BYTES ||
	    !printable_holds(answer.text))
		abort();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A rule that is accepted is accepted again as it is written, and means the same. Another one has a
 * message. */
#include "base/cleanup.h"
#include "store/trigger_rule.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MESSAGE_BYTES),
					     message = strbuf_with_max(MESSAGE_BYTES);
	struct trigger_rule rule, again;

	strbuf_append(&text, data, len < MESSAGE_BYTES ? len : MESSAGE_BYTES - 1);
	if (trigger_rule_parse(strbuf_str(&text), &message, &rule) < 0) {
		if (message.len == 0)
			abort();
		return 0;
	}
	if (trigger_rule_parse(rule.text, &message, &again) < 0 || message.len > 0 ||
	    again.measure != rule.measure || again.limit != rule.limit ||
	    strcmp(again.pattern, rule.pattern) != 0 || strcmp(again.text, rule.text) != 0)
		abort();
	return 0;
}

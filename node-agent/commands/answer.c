/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/answer.h"

#include "base/cleanup.h"
#include "commands/commands.h"
#include "commands/record_query.h"
#include "profile/output.h"

#include <stdio.h>
#include <string.h>

#define BODY_MAX_BYTES ((size_t)1 << 30)
#define MESSAGES_MAX_BYTES ((size_t)1 << 18)

struct answer answer_empty(void)
{
	return (struct answer){
		.body = strbuf_with_max(BODY_MAX_BYTES),
		.messages = strbuf_with_max(MESSAGES_MAX_BYTES),
	};
}

void answer_done(struct answer *answer)
{
	strbuf_done(&answer->body);
	strbuf_done(&answer->messages);
}

int answer_fail(struct answer *answer, const char *what, int error)
{
	strbuf_appendf(&answer->messages, "%s: %s\n", what, strerror(-error));
	return STATUS_FAILED;
}

int answer_print(const struct options *options, answer_fn fn)
{
	_cleanup_(answer_done) struct answer answer = answer_empty();

	int status = fn(options, NULL, &answer);
	record_query_warn(&answer.messages);
	if (answer.body.len == 0)
		return status;
	int r = output_write_bytes("-", answer.body.data, answer.body.len);
	if (r == 0)
		return status;
	fprintf(stderr, "flamelet: cannot write the answer: %s\n", strerror(-r));
	return STATUS_FAILED;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet_answer.h"

#include <string.h>

#define ERRNO_MAX 4095
#define STATUS_MAX 999

void kubelet_answer_append(struct strbuf *out, const struct kubelet_answer *answer)
{
	flat_put_number(out, answer->stage);
	flat_put_number(out, (uint64_t)-answer->error);
	flat_put_number(out, answer->status);
	flat_put_number(out, answer->http_version);
	flat_put_number(out, answer->nr_bytes);
	flat_put_text(out, answer->words);
}

/* Returns whether no field contradicts another one. */
static bool is_consistent(const struct kubelet_answer *answer)
{
	bool has_failed = answer->stage == KUBELET_SILENT || answer->stage == KUBELET_NO_LIST;

	if (has_failed != (answer->error < 0) ||
	    (answer->status == 0) != (answer->http_version == 0))
		return false;
	if (answer->stage == KUBELET_ANSWERED && answer->status != 200)
		return false;
	return answer->stage != KUBELET_REFUSED || (answer->status != 0 && answer->status != 200);
}

int kubelet_answer_read(struct flat_reader *reader, struct kubelet_answer *ret_answer)
{
	struct kubelet_answer answer = {
		.stage = flat_take_number(reader, KUBELET_REFUSED),
		.error = -(int)flat_take_number(reader, ERRNO_MAX),
		.status = (unsigned int)flat_take_number(reader, STATUS_MAX),
		.http_version = (unsigned int)flat_take_number(reader, 2),
		.nr_bytes = flat_take_number(reader, SIZE_MAX),
	};
	const char *words = flat_take_text(reader, KUBELET_WORDS_BYTES - 1);

	if (reader->is_bad || !is_consistent(&answer))
		return -EBADMSG;
	memcpy(answer.words, words, strlen(words) + 1);
	*ret_answer = answer;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a 403 says, the sentence about it is short and printable. */
#include "k8s/kubelet_refusal.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define SENTENCE_MAX 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf sentence = strbuf_with_max(SENTENCE_MAX);
	_cleanup_free_ char *text = strndup((const char *)data, len);

	if (!text)
		return 0;
	kubelet_refusal_explain(text, &sentence);
	if (strbuf_error(&sentence) < 0)
		abort();
	for (size_t i = 0; i < sentence.len; i++)
		if (!isascii(sentence.data[i]) || !isprint(sentence.data[i]))
			abort();
	return 0;
}

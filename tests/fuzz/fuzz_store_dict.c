/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "store/dict_code.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_BYTES ((size_t)64 << 20)

/* What was decoded, encoded, decodes to as many rows. */
static void repeat(struct dict *dict)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(dict_done) struct dict copy;

	if (dict_init(&copy) < 0)
		return;
	struct dict_mark none = dict_mark(&copy);
	dict_encode(dict, &none, false, &bytes);
	if (strbuf_error(&bytes) < 0 ||
	    dict_decode(&copy, DICT_FORM_PRESENT, false, bytes.data, bytes.len) < 0)
		abort();
	struct dict_mark one = dict_mark(dict), other = dict_mark(&copy);
	if (memcmp(&one, &other, sizeof(one)) != 0)
		abort();
}

static void try_form(enum dict_form form, const uint8_t *data, size_t size)
{
	_cleanup_(dict_done) struct dict dict;

	if (dict_init(&dict) == 0 && dict_decode(&dict, form, false, data, size) == 0)
		repeat(&dict);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_form(DICT_FORM_WITHOUT_REASONS, data, size);
	try_form(DICT_FORM_PRESENT, data, size);
	return 0;
}

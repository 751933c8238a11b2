/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stored_dict.h"

#include "base/cleanup.h"
#include "base/zstd.h"
#include "store/dict_code.h"

#define DICT_MAX_BYTES ((size_t)1 << 30)

int stored_unpack(struct zstd_unpacker *unpacker, const void *data, size_t len,
		  struct strbuf *plain)
{
	size_t plain_len;

	strbuf_clear(plain);
	int r = zstd_content_len(data, len, &plain_len);
	if (r < 0 || plain_len > STORE_FILE_BLOB_MAX)
		return -EBADMSG;
	return zstd_unpacker_unpack(unpacker, plain, data, len, plain_len);
}

struct reading {
	struct dict *dict; /* borrowed */
	enum dict_form form;
	struct stored_dict_end *end; /* borrowed */
	struct strbuf plain; /* owned */
	struct zstd_unpacker unpacker;
};

static int read_part(const struct store_dict_part *part, const void *data, size_t len,
		     void *context)
{
	struct reading *reading = context;

	int r = stored_unpack(&reading->unpacker, data, len, &reading->plain);
	if (r == 0)
		r = dict_decode(reading->dict, reading->form, part->is_head,
				strbuf_str(&reading->plain), reading->plain.len);
	if (r < 0)
		return r;
	if (!part->is_head)
		*reading->end = (struct stored_dict_end){ part->number, dict_mark(reading->dict) };
	return dict_bytes(reading->dict) > DICT_MAX_BYTES ? -EBADMSG : 0;
}

int stored_dict_continue(struct store_file *file, enum store_dict which, uint64_t last,
			 struct dict *dict, struct stored_dict_end *end)
{
	const struct store_dict_range range = { end->number, last };
	struct reading reading = {
		.dict = dict,
		.form = store_file_has_reasons(file) ? DICT_FORM_PRESENT
						     : DICT_FORM_WITHOUT_REASONS,
		.end = end,
		.plain = strbuf_with_max(STORE_FILE_BLOB_MAX),
	};
	int r = store_file_read_dict(file, which, &range, read_part, &reading);

	strbuf_done(&reading.plain);
	zstd_unpacker_done(&reading.unpacker);
	return r;
}

int stored_dict_read(struct store_file *file, enum store_dict which, struct dict *dict)
{
	struct stored_dict_end end = { 0 };

	return stored_dict_continue(file, which, UINT64_MAX, dict, &end);
}

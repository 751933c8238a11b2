/* SPDX-License-Identifier: Apache-2.0 */
/* A track is a header of four varints (kind, type, period, length) and a block (store/block.h),
 * whose label sets are the track's row numbers, each with one stack. */
#include "store/timeline_codec.h"

#include "base/cleanup.h"
#include "base/pb.h"
#include "base/pb_reader.h"
#include "profile/slots.h"

#define TRACK_MAX_BYTES ((size_t)64 << 20)

void timeline_encode_track(const struct track_key *key, const struct block_row *rows, size_t nr,
			   struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf block = strbuf_with_max(TRACK_MAX_BYTES);

	block_encode(rows, nr, &block);
	pb_varint(out, key->kind);
	pb_varint(out, key->type);
	pb_varint(out, key->period);
	pb_varint(out, block.len);
	strbuf_append(out, strbuf_str(&block), block.len);
	strbuf_fail(out, strbuf_error(&block));
}

struct decoder {
	const struct track_visitor *visitor; /* borrowed */
	struct track_key key; /* of the current track */
};

static bool wants_row(uint32_t number, void *data)
{
	(void)number;
	(void)data;
	return true;
}

static int visit_row(const struct block_row *row, void *data)
{
	const struct decoder *decoder = data;

	return decoder->visitor->visit(&decoder->key, row, decoder->visitor->data);
}

static uint32_t limit_of(enum track_kind kind, uint32_t nr_labels)
{
	switch (kind) {
	case TRACK_GROUPS:
	case TRACK_THROTTLED:
	case TRACK_GPU_USE:
	case TRACK_GPU_USE_MEMORY:
		return nr_labels;
	case TRACK_GPUS:
		return TRACK_MAX_GPUS * TRACK_GPU_ROWS;
	case TRACK_CPUS:
		return TRACK_MAX_CPUS;
	case TRACK_SLOTS:
		return SLOTS_NR;
	default:
		return UINT32_MAX;
	}
}

static int decode_track(struct decoder *decoder, struct pb_reader *reader, uint32_t nr_labels)
{
	const struct block_visitor rows = { wants_row, visit_row, decoder, false };
	uint64_t kind, type, len;
	int r = 0;

	if (pb_reader_varint(reader, &kind) < 0 || pb_reader_varint(reader, &type) < 0 ||
	    pb_reader_varint(reader, &decoder->key.period) < 0 ||
	    pb_reader_varint(reader, &len) < 0 || len > (size_t)(reader->end - reader->at))
		return -EBADMSG;
	if (kind < TRACK_NR_KINDS && type < PROFILE_NR_TYPES) {
		decoder->key.kind = (enum track_kind)kind;
		decoder->key.type = (enum profile_type)type;
		if (decoder->visitor->wants(&decoder->key, decoder->visitor->data))
			r = block_decode(reader->at, len, limit_of(decoder->key.kind, nr_labels), 1,
					 &rows);
	}
	reader->at += len;
	return r;
}

int timeline_decode(const void *bytes, size_t len, uint32_t nr_labels,
		    const struct track_visitor *visitor)
{
	struct pb_reader reader = pb_reader_of(bytes, len);
	struct decoder decoder = { .visitor = visitor };
	int r = 0;

	while (r == 0 && reader.at != reader.end)
		r = decode_track(&decoder, &reader, nr_labels);
	return r;
}

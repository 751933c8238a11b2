/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/minidebug.h"

#include "base/cleanup.h"

#include <lzma.h>

#define CHUNK_BYTES ((size_t)64 << 10)

/* The state while a section is decompressed. */
struct inflation {
	const struct elf_reader *file;
	const GElf_Shdr *section;
	uint64_t pos;
	lzma_stream xz;
	struct strbuf *out;
	uint8_t chunk[CHUNK_BYTES];
};

static void inflation_freep(struct inflation **inflation)
{
	if (*inflation)
		lzma_end(&(*inflation)->xz);
	free(*inflation);
}

static int read_chunk(struct inflation *inflation)
{
	uint64_t left = inflation->section->sh_size - inflation->pos;
	size_t len = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;

	int r = elf_reader_read(inflation->file, inflation->section->sh_offset + inflation->pos,
				inflation->chunk, len);
	if (r < 0)
		return r;
	inflation->pos += len;
	inflation->xz.next_in = inflation->chunk;
	inflation->xz.avail_in = len;
	return 0;
}

static int make_room(struct inflation *inflation)
{
	struct strbuf *out = inflation->out;
	size_t left = out->max - out->len;
	size_t len = left < CHUNK_BYTES ? left : CHUNK_BYTES;
	char *room = len > 0 ? strbuf_extend(out, len) : NULL;

	if (!room)
		return len > 0 ? strbuf_error(out) : -ENOSPC;
	inflation->xz.next_out = (uint8_t *)room;
	inflation->xz.avail_out = len;
	return 0;
}

static int to_errno(lzma_ret result)
{
	switch (result) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -ENOSPC;
	default:
		return -EBADMSG;
	}
}

static int inflate_all(struct inflation *inflation)
{
	lzma_ret result = lzma_stream_decoder(&inflation->xz, MINIDEBUG_MAX_DECODER_BYTES,
					      /* flags */ 0);
	int r = 0;

	while (result == LZMA_OK) {
		bool is_last = inflation->pos == inflation->section->sh_size;

		if (inflation->xz.avail_in == 0 && !is_last)
			r = read_chunk(inflation);
		if (r == 0 && inflation->xz.avail_out == 0)
			r = make_room(inflation);
		if (r < 0)
			return r;
		result = lzma_code(&inflation->xz, is_last ? LZMA_FINISH : LZMA_RUN);
	}
	strbuf_truncate(inflation->out, inflation->out->len - inflation->xz.avail_out);
	return to_errno(result);
}

static int inflate_section(const struct elf_reader *file, const GElf_Shdr *section,
			   struct strbuf *out)
{
	_cleanup_(inflation_freep) struct inflation *inflation = calloc(1, sizeof(*inflation));

	if (!inflation)
		return -ENOMEM;
	inflation->file = file;
	inflation->section = section;
	inflation->xz = (lzma_stream)LZMA_STREAM_INIT;
	inflation->out = out;
	return inflate_all(inflation);
}

int minidebug_open(struct minidebug *minidebug, const struct elf_reader *file,
		   const GElf_Shdr *section, size_t max_bytes)
{
	size_t max = max_bytes < MINIDEBUG_MAX_BYTES ? max_bytes : MINIDEBUG_MAX_BYTES;
	struct minidebug fresh = { .bytes = strbuf_with_max(max) };

	int r = section->sh_size <= max ? inflate_section(file, section, &fresh.bytes) : -ENOSPC;
	if (r == 0)
		r = elf_reader_init_bytes(&fresh.reader, fresh.bytes.data, fresh.bytes.len);
	if (r < 0) {
		strbuf_done(&fresh.bytes);
		return r;
	}
	fresh.is_open = true;
	*minidebug = fresh;
	return 0;
}

void minidebug_close(struct minidebug *minidebug)
{
	if (!minidebug->is_open)
		return;
	elf_reader_done(&minidebug->reader);
	strbuf_done(&minidebug->bytes);
	minidebug->is_open = false;
}

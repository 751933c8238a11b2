/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/worker/names_answer.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <string.h>

#define MAX_FRAME_BYTES ((size_t)256 << 10) /* RUNTIME_MAX_LINES lines with the longest texts */

/* A request whose frames are being named. */
struct naming {
	const struct runtime_ops *runtime;
	uint64_t values[RUNTIME_NAMING_VALUES]; /* runtime_found.naming */
	const char *bytes; /* borrowed; the rest of the request */
	size_t nr_bytes;
	struct process_memory memory;
	struct memory_notes notes; /* of the memory */
	struct strbuf frame; /* the present one */

	/* Of RUNTIME_REQUEST_COPIES. */
	bool has_copies;
	struct code_copy copy; /* of the present frame */
	struct memory_part parts[CODE_COPY_NR_PARTS]; /* of the copy */
};

/* Moves the next bytes of the request to `to`. Returns false if there are fewer. */
static bool take(struct naming *naming, void *to, size_t len)
{
	if (len > naming->nr_bytes)
		return false;
	memcpy(to, naming->bytes, len);
	naming->bytes += len;
	naming->nr_bytes -= len;
	return true;
}

static bool take_words(struct naming *naming, uint64_t words[static RUNTIME_MAX_WORDS])
{
	if (!take(naming, words, sizeof(*words)))
		return false;
	uint32_t nr = runtime_nr_words(words[0]);
	return nr > 0 && take(naming, words + 1, (nr - 1) * sizeof(*words));
}

static void set_parts(struct naming *naming)
{
	const struct code_copy *copy = &naming->copy;
	const struct memory_part parts[] = {
		[CODE_COPY_OBJECT] = { .bytes = copy->object, .len = sizeof(copy->object) },
		[CODE_COPY_FILENAME] = { .bytes = copy->filename, .len = sizeof(copy->filename) },
		[CODE_COPY_NAME] = { .bytes = copy->name, .len = sizeof(copy->name) },
		[CODE_COPY_LINES] = { .bytes = copy->lines, .len = copy->nr_line_bytes },
	};

	memcpy(naming->parts, parts, sizeof(parts));
	for (size_t i = 0; i < CODE_COPY_NR_PARTS; i++)
		naming->parts[i].address = copy->addresses[i];
	naming->memory.parts = naming->parts;
	naming->memory.nr_parts = CODE_COPY_NR_PARTS;
}

/* Takes the copy of the next frame, or leaves that of the frame before. */
static bool take_copy(struct naming *naming)
{
	size_t head = offsetof(struct code_copy, lines);
	uint32_t len;

	if (!take(naming, &len, sizeof(len)))
		return false;
	if (len == 0)
		return naming->memory.nr_parts > 0;
	if (len < head || len > sizeof(naming->copy) || !take(naming, &naming->copy, len) ||
	    naming->copy.nr_line_bytes != len - head)
		return false;
	set_parts(naming);
	return true;
}

/* Writes a frame; without lines if it cannot be read. Errors: -ENOMEM, -ENOSPC. */
static int name_frame(struct naming *naming, const uint64_t *words)
{
	struct frame_writer writer = { .out = &naming->frame };

	strbuf_clear(&naming->frame);
	frame_writer_begin(&writer);
	if (naming->runtime->name(&naming->memory, naming->values, words, &writer) < 0)
		frame_writer_drop(&writer);
	return strbuf_error(&naming->frame);
}

static int name_frames(struct naming *naming, uint32_t nr_frames, struct strbuf *reply)
{
	for (uint32_t i = 0; i < nr_frames; i++) {
		uint64_t words[RUNTIME_MAX_WORDS];

		/* The rest is asked for again, with a new limit. */
		if (i > 0 && naming->memory.nr_left < RUNTIME_MAX_READ_BYTES / 2)
			return 0;
		if (!take_words(naming, words) || (naming->has_copies && !take_copy(naming)))
			return -EINVAL;
		int r = name_frame(naming, words);
		if (r < 0)
			return r;
		if (reply->max - reply->len < naming->frame.len)
			return i == 0 ? -ENOSPC : 0;
		strbuf_append(reply, naming->frame.data, naming->frame.len);
	}
	return naming->nr_bytes == 0 ? strbuf_error(reply) : -EINVAL;
}

int names_answer(const struct worker_call *call, const struct runtime_ops *const *runtimes,
		 struct strbuf *reply)
{
	struct runtime_names_request request;
	struct naming naming = {
		.bytes = call->bytes,
		.nr_bytes = call->request.nr_bytes,
		.has_copies = call->request.kind == RUNTIME_REQUEST_COPIES,
		.memory = { .fd = -EBADF, .nr_left = RUNTIME_MAX_READ_BYTES },
		.frame = strbuf_with_max(MAX_FRAME_BYTES),
	};

	if (!take(&naming, &request, sizeof(request)) || request.kind >= RUNTIME_NR_KINDS ||
	    !runtimes[request.kind] || request.nr_frames == 0 ||
	    request.nr_frames > RUNTIME_MAX_FRAMES)
		return -EINVAL;
	naming.runtime = runtimes[request.kind];
	memcpy(naming.values, request.naming, sizeof(naming.values));
	if (!naming.has_copies) {
		naming.memory.fd = call->fds[0];
		naming.memory.notes = &naming.notes;
	}
	int r = name_frames(&naming, request.nr_frames, reply);
	strbuf_done(&naming.frame);
	return r;
}

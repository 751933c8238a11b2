/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/worker/runtime_worker.h"

#include "base/cleanup.h"
#include "worker/worker_server.h"

#include <string.h>

#define MAX_FRAME_BYTES ((size_t)256 << 10) /* RUNTIME_MAX_LINES lines with the longest texts */

/* The runtimes that are known, by kind. */
static const struct runtime_ops *known_runtimes[RUNTIME_NR_KINDS] = {
	[RUNTIME_CPYTHON] = &cpython_runtime,
	[RUNTIME_HOTSPOT] = &hotspot_runtime,
	[RUNTIME_V8] = &v8_runtime,
};

static void add_segments(const struct elf_reader *reader, struct runtime_file_answer *answer)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    answer->nr_segments == RUNTIME_MAX_SEGMENTS)
			continue;
		answer->segments[answer->nr_segments++] = (struct runtime_segment){
			.offset = segment->p_offset,
			.nr_bytes = segment->p_filesz,
			.address = segment->p_vaddr,
		};
	}
}

/* Returns 1 and the values if the file is one of the wanted runtimes, else 0. Errors: those of
 * elf_exports_init() and read_file(). */
static int read_file(struct elf_reader *reader, const struct runtime_ops *const *runtimes,
		     uint32_t kinds, struct runtime_file *ret_file)
{
	struct elf_exports exports;
	int r = elf_exports_init(&exports, reader);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (uint32_t kind = 0; kind < RUNTIME_NR_KINDS && r == 0; kind++)
		if (runtimes[kind] && kinds & UINT32_C(1) << kind)
			r = runtimes[kind]->read_file(&exports, ret_file);
	return r;
}

static int answer_file(const struct worker_call *call, const struct runtime_ops *const *runtimes,
		       struct strbuf *reply)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { 0 };
	struct runtime_file_answer answer = { 0 };
	struct runtime_file_request request;
	struct runtime_file file = { 0 };

	if (call->request.nr_bytes != sizeof(request))
		return -EINVAL;
	memcpy(&request, call->bytes, sizeof(request));
	int r = elf_reader_init(&reader, call->fds[0]);
	if (r == 0)
		r = read_file(&reader, runtimes, request.kinds, &file);
	if (r < 0)
		return r;
	if (r == 1) {
		answer.file = file;
		add_segments(&reader, &answer);
	}
	strbuf_append(reply, &answer, sizeof(answer));
	return strbuf_error(reply);
}

static struct process_memory memory_of(const struct worker_call *call)
{
	return (struct process_memory){ .fd = call->fds[0], .nr_left = RUNTIME_MAX_READ_BYTES };
}

/* Returns the runtime of a kind, or NULL if it is not known. */
static const struct runtime_ops *runtime_of(const struct runtime_ops *const *runtimes,
					    uint32_t kind)
{
	return kind < RUNTIME_NR_KINDS ? runtimes[kind] : NULL;
}

static int answer_process(const struct worker_call *call, const struct runtime_ops *const *runtimes,
			  struct strbuf *reply)
{
	struct process_memory memory = memory_of(call);
	struct runtime_process_request request;
	struct runtime_found found = { 0 };

	if (call->request.nr_bytes != sizeof(request))
		return -EINVAL;
	memcpy(&request, call->bytes, sizeof(request));
	const struct runtime_ops *runtime = runtime_of(runtimes, request.file.kind);
	if (!runtime)
		return -EINVAL;
	int r = runtime->inspect(&memory, &request.file, request.bias, &found);
	if (r < 0)
		return r;
	strbuf_append(reply, &found, sizeof(found));
	return strbuf_error(reply);
}

/* The frames of a request that are still to be named. */
struct naming {
	const struct runtime_ops *runtime;
	const uint64_t *values; /* runtime_found.naming */
	const uint64_t *words;
	size_t nr_words;
	struct process_memory memory;
	struct strbuf frame; /* the present one */
};

/* Writes a frame; without lines if it cannot be read. Errors: -ENOMEM, -ENOSPC. */
static int name_frame(struct naming *naming)
{
	struct frame_writer writer = { .out = &naming->frame };

	strbuf_clear(&naming->frame);
	frame_writer_begin(&writer);
	if (naming->runtime->name(&naming->memory, naming->values, naming->words, &writer) < 0)
		frame_writer_drop(&writer);
	return strbuf_error(&naming->frame);
}

/* Returns the number of words of the next frame; 0 if it is malformed. */
static uint32_t next_words(const struct naming *naming)
{
	uint32_t nr = naming->nr_words > 0 ? runtime_nr_words(naming->words[0]) : 0;

	return nr <= naming->nr_words ? nr : 0;
}

static int name_frames(struct naming *naming, uint32_t nr_frames, struct strbuf *reply)
{
	for (uint32_t i = 0; i < nr_frames; i++) {
		uint32_t nr_words = next_words(naming);

		if (nr_words == 0)
			return -EINVAL;
		int r = name_frame(naming);
		if (r < 0)
			return r;
		if (reply->max - reply->len < naming->frame.len)
			return i == 0 ? -ENOSPC : 0;
		strbuf_append(reply, naming->frame.data, naming->frame.len);
		naming->words += nr_words;
		naming->nr_words -= nr_words;
	}
	return naming->nr_words == 0 ? strbuf_error(reply) : -EINVAL;
}

static int answer_names(const struct worker_call *call, const struct runtime_ops *const *runtimes,
			struct strbuf *reply)
{
	uint64_t words[RUNTIME_MAX_FRAMES * RUNTIME_MAX_WORDS];
	struct runtime_names_request request;
	size_t nr_bytes = call->request.nr_bytes;

	if (nr_bytes < sizeof(request) || nr_bytes > sizeof(request) + sizeof(words) ||
	    (nr_bytes - sizeof(request)) % sizeof(words[0]) != 0)
		return -EINVAL;
	memcpy(&request, call->bytes, sizeof(request));
	memcpy(words, call->bytes + sizeof(request), nr_bytes - sizeof(request));
	struct naming naming = {
		.runtime = runtime_of(runtimes, request.kind),
		.values = request.naming,
		.words = words,
		.nr_words = (nr_bytes - sizeof(request)) / sizeof(words[0]),
		.memory = memory_of(call),
		.frame = strbuf_with_max(MAX_FRAME_BYTES),
	};
	if (!naming.runtime || request.nr_frames == 0)
		return -EINVAL;
	int r = name_frames(&naming, request.nr_frames, reply);
	strbuf_done(&naming.frame);
	return r;
}

int runtime_worker_answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	static int (*const answers[])(const struct worker_call *call,
				      const struct runtime_ops *const *runtimes,
				      struct strbuf *reply) = {
		[RUNTIME_REQUEST_FILE] = answer_file,
		[RUNTIME_REQUEST_PROCESS] = answer_process,
		[RUNTIME_REQUEST_NAMES] = answer_names,
	};

	if (call->nr_fds != 1 || call->request.kind >= array_len(answers))
		return -EINVAL;
	return answers[call->request.kind](call, data, reply);
}

int runtime_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the runtime worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = RUNTIME_REQUEST_MAX_BYTES,
		.answer = runtime_worker_answer,
		.data = known_runtimes,
	};

	return worker_server_run(&opts);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/worker/runtime_worker.h"

#include "base/cleanup.h"
#include "runtime/worker/names_answer.h"
#include "worker/worker_server.h"

#include <string.h>

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

static int answer_process(const struct worker_call *call, const struct runtime_ops *const *runtimes,
			  struct strbuf *reply)
{
	struct process_memory memory = { .fd = call->fds[0], .nr_left = RUNTIME_MAX_READ_BYTES };
	struct runtime_process_request request;
	struct runtime_found found = { 0 };

	if (call->request.nr_bytes != sizeof(request))
		return -EINVAL;
	memcpy(&request, call->bytes, sizeof(request));
	if (request.file.kind >= RUNTIME_NR_KINDS || !runtimes[request.file.kind])
		return -EINVAL;
	int r = runtimes[request.file.kind]->inspect(&memory, &request.file, request.bias, &found);
	if (r < 0)
		return r;
	strbuf_append(reply, &found, sizeof(found));
	return strbuf_error(reply);
}

int runtime_worker_answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	static int (*const answers[])(const struct worker_call *call,
				      const struct runtime_ops *const *runtimes,
				      struct strbuf *reply) = {
		[RUNTIME_REQUEST_FILE] = answer_file,
		[RUNTIME_REQUEST_PROCESS] = answer_process,
		[RUNTIME_REQUEST_NAMES] = names_answer,
		[RUNTIME_REQUEST_COPIES] = names_answer,
	};

	if (call->request.kind >= array_len(answers) ||
	    call->nr_fds != (call->request.kind != RUNTIME_REQUEST_COPIES))
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

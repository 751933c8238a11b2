/* SPDX-License-Identifier: Apache-2.0 */
#include "probes/probe_worker.h"

#include "base/cleanup.h"
#include "elf/elf_allocators.h"
#include "elf/elf_probes.h"
#include "worker/worker_server.h"

#include <string.h>

int probe_worker_answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct heap_probes probes;

	(void)data;
	if (call->request.kind >= PROBE_NR_QUESTIONS || call->request.nr_bytes != 0 ||
	    call->nr_fds != 1)
		return -EINVAL;
	int r = elf_reader_init(&reader, call->fds[0]);
	if (r == 0)
		r = elf_probes_find(&reader, &probes);
	if (r == 0 && call->request.kind == PROBE_QUESTION_CALLS)
		r = elf_allocators_find(&reader, &probes);
	if (r < 0)
		return r;
	strbuf_append(reply, &probes, sizeof(probes));
	return strbuf_error(reply);
}

int probe_worker_check(const void *bytes, size_t len, struct heap_probes *ret_probes)
{
	struct heap_probes probes;

	if (len != sizeof(probes))
		return -EBADMSG;
	memcpy(&probes, bytes, sizeof(probes));
	if (probes.nr > HEAP_MAX_PROBES)
		return -EBADMSG;
	for (size_t i = 0; i < probes.nr; i++)
		if (probes.of[i].kind >= HEAP_NR_PROBE_KINDS)
			return -EBADMSG;
	*ret_probes = probes;
	return 0;
}

int probe_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the probe worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.answer = probe_worker_answer,
	};

	return worker_server_run(&opts);
}

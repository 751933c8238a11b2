/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/symbol_worker.h"

#include "base/crc32.h"
#include "base/hash.h"
#include "symbol/elf/elf_fingerprint.h"
#include "symbol/elf/elf_symbols.h"
#include "worker/worker_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer_table(const struct worker_call *call, struct strbuf *reply)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	size_t len;

	int r = elf_symbols_load(call->fds[0], (size_t)call->request.max_bytes, &symbols);
	if (r < 0)
		return r;

	const void *block = elf_symbols_block(symbols, &len);
	strbuf_append(reply, block, len);
	return strbuf_error(reply);
}

static int answer_crc(const struct worker_call *call, struct strbuf *reply)
{
	uint32_t crc;

	if (call->nr_fds != 1)
		return -EINVAL;
	int r = crc32_of_file(call->fds[0], UINT64_MAX, &crc);
	if (r < 0)
		return r;
	strbuf_append(reply, &crc, sizeof(crc));
	return strbuf_error(reply);
}

/* Makes the hash that of both files; build id and size stay those of the first one. */
static void add_print(struct elf_fingerprint *print, const struct elf_fingerprint *other,
		      uint64_t seed)
{
	const struct elf_fingerprint both[] = { *print, *other };

	hash_128_seeded(both, sizeof(both), seed, print->hash);
}

static int answer_fingerprint(const struct worker_call *call, struct strbuf *reply)
{
	struct elf_fingerprint_opts opts;
	struct elf_fingerprint print, other;

	if (call->nr_fds > 2 || call->request.nr_bytes != sizeof(opts))
		return -EINVAL;
	memcpy(&opts, call->bytes, sizeof(opts));

	int r = elf_fingerprint_take(call->fds[0], &opts, &print);
	if (r == 0 && call->nr_fds == 2) {
		r = elf_fingerprint_take(call->fds[1], &opts, &other);
		if (r == 0)
			add_print(&print, &other, opts.seed);
	}
	if (r < 0)
		return r;
	strbuf_append(reply, &print, sizeof(print));
	return strbuf_error(reply);
}

int symbol_worker_answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	(void)data;
	if (call->request.kind == SYMBOL_REQUEST_NAMES)
		return symbol_worker_names(call, reply);
	if (call->nr_fds == 0 || call->request.key == 0)
		return -EINVAL;
	switch (call->request.kind) {
	case SYMBOL_REQUEST_TABLE:
		return answer_table(call, reply);
	case SYMBOL_REQUEST_LINES:
		return symbol_worker_lines(call, reply);
	case SYMBOL_REQUEST_CRC:
		return answer_crc(call, reply);
	case SYMBOL_REQUEST_FINGERPRINT:
		return answer_fingerprint(call, reply);
	default:
		return -EINVAL;
	}
}

int symbol_worker_main(void)
{
	const struct worker_server_opts opts = {
		.name = "the symbol worker",
		.sandbox = WORKER_SANDBOX_FILES,
		.max_request_bytes = SYMBOL_REQUEST_MAX_BYTES,
		.answer = symbol_worker_answer,
	};

	int r = symbol_worker_prepare_names();
	if (r < 0) {
		fprintf(stderr, "flamelet: cannot set up the symbol worker: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	return worker_server_run(&opts);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/worker/symbol_worker.h"

int symbol_worker_table(const struct worker_call *call, struct strbuf *reply)
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

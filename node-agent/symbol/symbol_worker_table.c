/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "symbol/elf_symbols.h"
#include "symbol/symbol_worker.h"

int symbol_worker_table(const struct symbol_request *request, const int *fds, size_t nr_fds,
			struct strbuf *reply)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	size_t len;

	if (nr_fds == 0)
		return -EINVAL;

	int r = elf_symbols_load(fds[0], (size_t)request->max_bytes, &symbols);
	if (r < 0)
		return r;

	const void *block = elf_symbols_block(symbols, &len);
	strbuf_append(reply, block, len);
	return strbuf_error(reply);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf_fingerprint.h"
#include "symbol/symbol_worker.h"

#include <string.h>

int symbol_worker_fingerprint(const struct worker_call *call, struct strbuf *reply)
{
	struct elf_fingerprint_opts opts;
	struct elf_fingerprint print;

	if (call->nr_fds != 1 || call->request.nr_bytes != sizeof(opts))
		return -EINVAL;
	memcpy(&opts, call->bytes, sizeof(opts));

	int r = elf_fingerprint_take(call->fds[0], &opts, &print);
	if (r < 0)
		return r;
	strbuf_append(reply, &print, sizeof(print));
	return strbuf_error(reply);
}

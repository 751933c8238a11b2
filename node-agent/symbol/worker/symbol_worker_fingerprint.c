/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "symbol/elf/elf_fingerprint.h"
#include "symbol/worker/symbol_worker.h"

#include <string.h>

/* Of both files together; the rest is the first one's. */
static void add_print(struct elf_fingerprint *print, const struct elf_fingerprint *other,
		      uint64_t seed)
{
	const struct elf_fingerprint both[] = { *print, *other };

	hash_128_seeded(both, sizeof(both), seed, print->hash);
}

int symbol_worker_fingerprint(const struct worker_call *call, struct strbuf *reply)
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

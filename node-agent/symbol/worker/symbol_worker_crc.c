/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/symbol_worker.h"

#include "base/crc32.h"

int symbol_worker_crc(const struct worker_call *call, struct strbuf *reply)
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

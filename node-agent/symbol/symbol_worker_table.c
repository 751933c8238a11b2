/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_worker.h"

int symbol_worker_table(const struct symbol_request *request, const int *fds, size_t nr_fds,
			struct strbuf *reply)
{
	(void)request;
	(void)fds;
	(void)nr_fds;
	(void)reply;
	return -EOPNOTSUPP;
}

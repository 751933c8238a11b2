/* SPDX-License-Identifier: Apache-2.0 */
/* A network worker is this program again, told so by its first argument: a test program that this
 * file is part of becomes one before its main() is called. */
#include "base/err.h"
#include "k8s/kubelet_worker.h"
#include "otlp/transport/transport_worker.h"

#include <stdlib.h>
#include <string.h>

static __attribute__((constructor)) void become_worker(int argc, char **argv)
{
	static const struct {
		const char *command;
		int (*run)(void);
	} workers[] = {
		{ KUBELET_WORKER_COMMAND, kubelet_worker_main },
		{ TRANSPORT_WORKER_COMMAND, transport_worker_main },
	};

	for (size_t i = 0; argc == 2 && i < array_len(workers); i++)
		if (strcmp(argv[1], workers[i].command) == 0)
			exit(workers[i].run());
}

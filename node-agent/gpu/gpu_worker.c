/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_worker.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "gpu/gpu_devices.h"
#include "gpu/gpu_files.h"
#include "worker/worker_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gpu_worker_answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	_cleanup_free_ struct gpu_reading *reading = calloc(1, sizeof(*reading));

	if (call->request.kind != 0 || call->nr_fds != 0 || call->request.nr_bytes == 0 ||
	    memchr(call->bytes, '\0', call->request.nr_bytes))
		return -EINVAL;
	if (!reading)
		return -ENOMEM;
	gpu_devices_read(data, call->bytes, clock_real_ns() / NSEC_PER_USEC, reading);
	gpu_reading_encode(reading, reply);
	return strbuf_error(reply);
}

int gpu_worker_main(void)
{
	static struct gpu_devices devices;
	const struct worker_server_opts opts = {
		.name = "the GPU worker",
		.sandbox = WORKER_SANDBOX_DEVICES,
		.max_request_bytes = GPU_WORKER_PATH_BYTES,
		.answer = gpu_worker_answer,
		.data = &devices,
	};

	int r = gpu_files_confine();
	if (r < 0 && r != -EOPNOTSUPP) {
		fprintf(stderr, "flamelet: cannot confine the GPU worker to its devices: %s\n",
			strerror(-r));
		return EXIT_FAILURE;
	}
	return worker_server_run(&opts);
}

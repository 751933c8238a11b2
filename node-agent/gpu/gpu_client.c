/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_client.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "gpu/gpu_worker.h"
#include "gpu/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu_client {
	const char *library; /* borrowed */
	struct worker_client *worker; /* owned */
	bool is_open; /* the worker has answered */
	uint64_t retry_ns; /* after the last failure; 0: there was none since a success */
	uint64_t not_before_ns;
	char problem[GPU_PROBLEM_BYTES];
	struct gpu_client_stats stats;
};

int gpu_client_new(const char *program, const char *library, struct gpu_client **ret_client)
{
	const struct worker_client_opts opts = {
		.program = program,
		.command = GPU_WORKER_COMMAND,
		.max_data_bytes = GPU_WORKER_MAX_DATA_BYTES,
		.max_fds = GPU_WORKER_MAX_FDS,
	};
	_cleanup_(gpu_client_freep) struct gpu_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->library = library;
	int r = worker_client_new(&opts, &client->worker);
	if (r < 0)
		return r;
	*ret_client = take_ptr(client);
	return 0;
}

void gpu_client_free(struct gpu_client *client)
{
	if (!client)
		return;
	worker_client_free(client->worker);
	free(client);
}

static void delay_retry(struct gpu_client *client)
{
	client->is_open = false;
	client->retry_ns = client->retry_ns ? min_u64(client->retry_ns * 2, GPU_CLIENT_MAX_RETRY_NS)
					    : GPU_CLIENT_RETRY_NS;
	client->not_before_ns = clock_mono_ns() + client->retry_ns;
}

static int ask(struct gpu_client *client, const uint64_t *give_up_ns, struct gpu_reading *reading)
{
	const struct worker_limits limits = {
		.timeout_ns = client->is_open ? GPU_CLIENT_READ_NS : GPU_CLIENT_OPEN_NS,
	};
	_cleanup_(strbuf_done) struct strbuf request = strbuf_with_max(GPU_WORKER_PATH_BYTES);
	struct worker_bytes reply = { 0 };

	strbuf_append_str(&request, client->library);
	int r = strbuf_error(&request);
	if (r == 0)
		r = worker_client_ask(client->worker, &request, GPU_READING_MAX_BYTES, &limits,
				      give_up_ns, &reply);
	if (r < 0)
		return r;
	r = gpu_reading_decode(reply.data, reply.len, reading);
	if (r < 0)
		worker_client_reject(client->worker);
	free(reply.data);
	return r;
}

static const char *failure_text(int error, const struct gpu_reading *reading)
{
	switch (error) {
	case -EIO:
		return reading->problem;
	case -ETIMEDOUT:
		return "the library did not answer in time";
	case -EPIPE:
		return "the process that uses the library died";
	default:
		return strerror(-error);
	}
}

/* A library that does not work may do so in a new process. */
static int judge(struct gpu_client *client, int r, const struct gpu_reading *reading)
{
	if (r == 0 && reading->problem[0]) {
		worker_client_stop(client->worker);
		r = -EIO;
	}
	if (r == -ECANCELED)
		return r;
	snprintf(client->problem, sizeof(client->problem), "%s",
		 r < 0 ? failure_text(r, reading) : "");
	client->stats.nr_failed += r < 0;
	client->stats.nr_readings += r == 0;
	if (r < 0) {
		delay_retry(client);
		return r;
	}
	client->is_open = true;
	client->retry_ns = 0;
	return 0;
}

static void count_devices(struct gpu_client_stats *stats, const struct gpu_reading *reading)
{
	stats->nr_dropped += reading->nr_dropped;
	for (size_t i = 0; i < reading->nr_devices; i++) {
		uint32_t error = reading->devices[i].error;

		if (error == NVML_GPU_IS_LOST || error == NVML_RESET_REQUIRED)
			stats->nr_lost++;
		else
			stats->nr_device_errors += error != NVML_OK;
	}
}

int gpu_client_read(struct gpu_client *client, const uint64_t *give_up_ns,
		    struct gpu_reading **ret_reading)
{
	if (clock_mono_ns() < client->not_before_ns)
		return -EAGAIN;
	_cleanup_free_ struct gpu_reading *reading = calloc(1, sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	int r = judge(client, ask(client, give_up_ns, reading), reading);
	if (r < 0)
		return r;
	count_devices(&client->stats, reading);
	*ret_reading = take_ptr(reading);
	return 0;
}

const char *gpu_client_problem(const struct gpu_client *client)
{
	return client->problem;
}

struct gpu_client_stats gpu_client_get_stats(struct gpu_client *client)
{
	struct gpu_client_stats stats = client->stats;

	stats.worker = worker_client_get_stats(client->worker);
	return stats;
}

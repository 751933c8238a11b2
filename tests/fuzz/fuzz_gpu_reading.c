/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of the GPU worker: it is refused, or encoding it gives the same bytes. */
#include "base/cleanup.h"
#include "gpu/gpu_reading.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(bool is_right)
{
	if (!is_right)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct gpu_reading reading;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(GPU_READING_MAX_BYTES);

	if (gpu_reading_decode(data, len, &reading) < 0)
		return 0;
	check(reading.nr_devices <= GPU_MAX_DEVICES && reading.nr_processes <= GPU_MAX_PROCESSES);
	for (size_t i = 0; i < reading.nr_processes; i++)
		check(reading.processes[i].device < reading.nr_devices);
	gpu_reading_encode(&reading, &bytes);
	check(strbuf_error(&bytes) == 0 && bytes.len == len);
	check(memcmp(bytes.data, data, len) == 0);
	return 0;
}

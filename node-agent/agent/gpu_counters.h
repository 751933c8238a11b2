/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of counter_list.c about GPUs. */
#ifndef AGENT_GPU_COUNTERS_H
#define AGENT_GPU_COUNTERS_H

#define GPU_COUNTERS                                                                               \
	GAUGE("gpus", "gpus", "GPUs in the last reading (--gpu).", AT(store.gpu.nr_devices)),      \
		COUNTER("gpu_readings", "gpu_readings_total",                                      \
			"Readings of all GPUs, by result: read, or failed because the library "    \
			"does not work, hangs or has crashed.",                                    \
			BY("result", "read"), AT(store.gpu.client.nr_readings)),                   \
		MORE("gpu_readings_failed", "failed", AT(store.gpu.client.nr_failed)),             \
		COUNTER("gpu_lost", "gpu_device_errors_total",                                     \
			"Readings of a single GPU that failed, by reason: it is lost or needs a "  \
			"reset (lost), or another error of the library (other).",                  \
			BY("reason", "lost"), AT(store.gpu.client.nr_lost)),                       \
		MORE("gpu_device_errors", "other", AT(store.gpu.client.nr_device_errors)),         \
		COUNTER("gpu_worker_timeouts", "gpu_worker_failures_total",                        \
			"Times that the process that uses the GPU driver's library ended, by "     \
			"reason: it took too long and was killed (timeout), or it crashed or "     \
			"gave an invalid answer (death).",                                         \
			BY("reason", "timeout"), AT(store.gpu.client.worker.nr_timeouts)),         \
		MORE("gpu_worker_deaths", "death", AT(store.gpu.client.worker.nr_deaths)),         \
		COUNTER("gpu_seconds_missed", "gpu_seconds_dropped_total",                         \
			"Readings of GPUs that are not in the local record, because its thread "   \
			"could not keep up.",                                                      \
			AT(store.gpu.nr_missed)),                                                  \
		COUNTER("gpu_processes_unknown", "gpu_processes_unknown_total",                    \
			"Readings of processes on a GPU whose cgroup was not found.", DEBUG,       \
			AT(store.gpu.nr_unknown)),                                                 \
		COUNTER("gpu_dropped", "gpu_entries_dropped_total",                                \
			"GPUs, and processes on them, that were left out because there were "      \
			"too many.",                                                               \
			DEBUG, AT(store.gpu.client.nr_dropped))

#endif

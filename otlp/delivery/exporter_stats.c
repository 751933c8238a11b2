/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/exporter_stats.h"

static const char *const drop_names[] = {
#define X(NAME, word, help) [EXPORT_DROP_##NAME] = word,
	EXPORT_DROPS(X)
#undef X
};

const char *export_drop_name(enum export_drop drop)
{
	return drop_names[drop];
}

uint64_t exporter_stats_dropped(const struct exporter_stats *stats)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < EXPORT_NR_DROPS; i++)
		nr += stats->nr_samples_dropped[i];
	return nr;
}

struct exporter_stats exporter_stats_join(const struct delivery_queue_stats *queue,
					  const struct spool_stats *spool,
					  const struct attribute_maker_stats *attributes)
{
	return (struct exporter_stats){
		.nr_samples_restored = spool->nr_samples_restored,
		.nr_samples_sent = queue->nr_samples_sent,
		.nr_samples_dropped = {
			[EXPORT_DROP_REJECTED] = queue->nr_samples_rejected,
			[EXPORT_DROP_PARTIAL] = queue->nr_samples_partial,
			[EXPORT_DROP_TOO_LARGE] = queue->nr_samples_too_large,
			[EXPORT_DROP_GAVE_UP] = queue->nr_samples_gave_up,
			[EXPORT_DROP_EVICTED] = spool->nr_samples_evicted,
			[EXPORT_DROP_DAMAGED] = spool->nr_samples_damaged,
			[EXPORT_DROP_SHUTDOWN] = queue->nr_samples_shutdown,
		},
		.nr_samples_collapsed = attributes->nr_samples_collapsed,
		.nr_attributes_dropped = attributes->nr_attributes_dropped,
		.nr_queue_samples = spool->nr_samples,
		.nr_queue_requests = spool->nr_requests,
		.nr_queue_disk_bytes = spool->nr_disk_bytes,
		.nr_queue_memory_bytes = spool->nr_memory_bytes,
		.nr_queue_write_failures = spool->nr_write_failures,
		.nr_queue_files_damaged = spool->nr_files_damaged,
		.nr_requests = queue->nr_requests,
		.nr_request_failures = queue->nr_request_failures,
		.nr_retries = queue->nr_retries,
		.nr_bytes_sent = queue->nr_bytes,
		.worker = queue->worker,
	};
}

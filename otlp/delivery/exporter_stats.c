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

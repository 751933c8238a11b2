/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the text format that Prometheus reads (version 0.0.4): a family's head, then its
 * samples.
 *
 *	# HELP flamelet_samples_dropped_total Samples that were lost, by reason.
 *	# TYPE flamelet_samples_dropped_total counter
 *	flamelet_samples_dropped_total{reason="ring_full"} 4
 *
 * Texts are made printable (base/printable.h); then a backslash goes before backslashes and, in
 * values of labels, before quotes. */
#ifndef SELFMON_METRIC_TEXT_H
#define SELFMON_METRIC_TEXT_H

#include "base/strbuf.h"

#include <stdint.h>

#define METRIC_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE };

/* The series that a value belongs to. `label` is NULL if there is none. */
struct metric_series {
	const char *family;
	const char *label;
	const char *label_value;
};

void metric_text_head(struct strbuf *out, const char *family, enum metric_type type,
		      const char *help);
void metric_text_count(struct strbuf *out, const struct metric_series *series, uint64_t value);

/* Appends nanoseconds, written as seconds. */
void metric_text_ns(struct strbuf *out, const struct metric_series *series, uint64_t value_ns);

#endif

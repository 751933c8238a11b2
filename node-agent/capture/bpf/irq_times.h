/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the time that CPUs are in interrupts, which bpf/irq.bpf.c adds up. */
#ifndef CAPTURE_BPF_IRQ_TIMES_H
#define CAPTURE_BPF_IRQ_TIMES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/irq_time.h"
#include "capture/perf_events/cpu_list.h"

#include <stdbool.h>
#include <stdint.h>

struct flamelet_bpf;
struct bpf_link;

#define IRQ_MAX_VECTORS 8

struct irq_times {
	const struct irq_cpu *cpus; /* owned; mapped memory; NULL: interrupts are not followed */
	struct irq_cpu *seen; /* owned; what was told, of each CPU */
	uint32_t nr_cpus;
	struct cpu_set_bits wanted;
	struct bpf_link *links[2 * IRQ_MAX_VECTORS]; /* owned */
};

/* Returns whether this kernel tells of interrupts; else appends why not. */
bool irq_times_are_known(struct strbuf *reterr_msg);

/* Prepares the programs before they are loaded, by opts->irq and opts->only_irq. Errors: those of
 * libbpf. */
int irq_times_prepare(struct flamelet_bpf *skel, const struct capture_opts *opts) must_check;

/* Attaches the programs and maps the sums, if interrupts are wanted. `cpus` (NULL: all) is copied.
 * Errors: -ENOMEM, and those of bpf(2) and mmap(2). */
int irq_times_open(struct irq_times *times, struct flamelet_bpf *skel,
		   const struct cpu_set_bits *cpus) must_check;

/* Tells what came to each sum since the last call. */
void irq_times_take(struct irq_times *times, irq_time_fn handle, void *data);

void irq_times_close(struct irq_times *times);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How long each CPU is in interrupts: shared/irq.h.
 *
 * Attach points: BTF tracepoints irq_handler_entry and irq_handler_exit around each handler of a
 * hard interrupt, softirq_entry and softirq_exit around each kind of soft interrupt; raw
 * tracepoints of the vectors of x86 that have no handler of a device, such as the local timer's.
 * Map: irq_cpus, of which each CPU writes its own value alone.
 *
 * Neither hard nor soft interrupts are nested on a CPU. A hard one may come within a soft one, but
 * not the other way round: soft ones follow when a hard one has ended. */
#include "bpf/maps.bpf.h"
#include "bpf/compat.bpf.h"

#define IRQ_PROBES 8

static __always_inline struct irq_cpu *get_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&irq_cpus, &cpu);
}

static __always_inline void add(struct irq_sum *sum, __u64 ns)
{
	sum->ns += ns;
	sum->nr++;
}

static __always_inline void begin_hard(void)
{
	struct irq_cpu *cpu = get_cpu();

	if (cpu)
		cpu->hard_begin_ns = bpf_ktime_get_ns();
}

/* Returns the sum of a handler, of this CPU. */
static __always_inline struct irq_sum *find_sum(struct irq_cpu *cpu, __u64 key,
						struct irqaction *action)
{
	__u32 first = (__u32)((key >> 6) ^ key);

	for (__u32 i = 0; i < IRQ_PROBES; i++) {
		struct irq_line *line = &cpu->lines[(first + i) & (IRQ_LINES - 1)];

		if (line->key == key)
			return &line->sum;
		if (line->key != 0)
			continue;
		if (action) {
			line->handler = (__u64)READ_KERNEL(action->handler);
			bpf_probe_read_kernel_str(line->name, sizeof(line->name),
						  READ_KERNEL(action->name));
		}
		line->key = key;
		return &line->sum;
	}
	return &cpu->others;
}

/* The verifier knows what pointers point to, so the key becomes a number by way of memory. */
static __always_inline __u64 as_number(volatile struct irq_cpu *cpu, __u64 key)
{
	cpu->key = key;
	return cpu->key;
}

static __always_inline void end_hard(__u64 key, struct irqaction *action)
{
	struct irq_cpu *cpu = get_cpu();
	__u64 ns;

	if (!cpu || cpu->hard_begin_ns == 0)
		return;
	ns = bpf_ktime_get_ns() - cpu->hard_begin_ns;
	cpu->hard_begin_ns = 0;
	cpu->hard_ns += ns;
	add(find_sum(cpu, as_number(cpu, key), action), ns);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_begin)
{
	(void)ctx;
	begin_hard();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_end, int irq, struct irqaction *action)
{
	(void)ctx, (void)irq;
	end_hard((__u64)action, action);
	return 0;
}

SEC("raw_tp")
int irq_vector_begin(void *ctx)
{
	(void)ctx;
	begin_hard();
	return 0;
}

SEC("raw_tp")
int irq_vector_end(struct bpf_raw_tracepoint_args *ctx)
{
	end_hard(IRQ_VECTOR_BIT | (__u8)ctx->args[0], NULL);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_begin, unsigned int vector)
{
	struct irq_cpu *cpu = get_cpu();

	(void)ctx;
	if (!cpu)
		return 0;
	cpu->soft_hard_ns = cpu->hard_ns;
	cpu->soft_begin_ns = bpf_ktime_get_ns();
	cpu->softirq = vector + 1;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_end, unsigned int vector)
{
	struct irq_cpu *cpu = get_cpu();
	__u64 ns;

	(void)ctx;
	if (!cpu)
		return 0;
	cpu->softirq = 0;
	if (cpu->soft_begin_ns == 0 || vector >= SOFTIRQ_NR)
		return 0;
	ns = bpf_ktime_get_ns() - cpu->soft_begin_ns - (cpu->hard_ns - cpu->soft_hard_ns);
	cpu->soft_begin_ns = 0;
	add(&cpu->softirqs[vector], ns);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel side writes while this reads. A sum is one word, so it is never torn. What is counted
 * between two words is told the next time. */
#include "capture/bpf/irq_times.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flamelet_bpf.skel.h"

/* Interrupts of x86 without a handler of a device: arch/x86/include/asm/irq_vectors.h. The kernel
 * has two vectors for function calls. Other machines handle such interrupts as those of devices. */
static const struct vector {
	uint8_t number;
	const char *begin, *end; /* tracepoints */
	const char *name;
} vectors[] = {
	{ 0xec, "local_timer_entry", "local_timer_exit", "local timer" },
	{ 0xfd, "reschedule_entry", "reschedule_exit", "rescheduling" },
	{ 0xfc, "call_function_entry", "call_function_exit", "function call" },
	{ 0xfb, "call_function_single_entry", "call_function_single_exit", "function call" },
	{ 0xf6, "irq_work_entry", "irq_work_exit", "IRQ work" },
};

_Static_assert(array_len(vectors) <= IRQ_MAX_VECTORS, "there is room for their links");

static size_t map_bytes(uint32_t nr_cpus)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (nr_cpus * sizeof(struct irq_cpu) + page - 1) / page * page;
}

bool irq_times_are_known(struct strbuf *reterr_msg)
{
	const char *cause = NULL;

	if (access("/sys/kernel/realtime", F_OK) == 0)
		cause = "this kernel is a real-time kernel, where threads handle interrupts: see "
			"their CPU time";
	else if (libbpf_find_vmlinux_btf_id("softirq_entry", BPF_TRACE_RAW_TP) <= 0 ||
		 libbpf_find_vmlinux_btf_id("irq_handler_entry", BPF_TRACE_RAW_TP) <= 0)
		cause = "this kernel has no types of the tracepoints softirq_entry and "
			"irq_handler_entry in /sys/kernel/btf/vmlinux";
	if (cause)
		strbuf_append_str(reterr_msg, cause);
	return !cause;
}

int irq_times_prepare(struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	struct bpf_program *programs[] = {
		skel->progs.irq_begin,	    skel->progs.irq_end,       skel->progs.irq_vector_begin,
		skel->progs.irq_vector_end, skel->progs.softirq_begin, skel->progs.softirq_end,
	};
	int nr_cpus = libbpf_num_possible_cpus();

	skel->rodata->irq_is_followed = opts->irq;
	skel->rodata->only_interrupts = opts->only_irq;
	for (size_t i = 0; i < array_len(programs); i++)
		bpf_program__set_autoload(programs[i], opts->irq);
	if (!opts->irq)
		return 0;
	return nr_cpus < 0 ? nr_cpus
			   : bpf_map__set_max_entries(skel->maps.irq_cpus, (uint32_t)nr_cpus);
}

/* What a kernel does not know is counted for the interrupt that it came in, or for none. */
static void attach_vectors(struct irq_times *times, const struct flamelet_bpf *skel)
{
	for (size_t i = 0; i < array_len(vectors); i++) {
		times->links[2 * i] = bpf_program__attach_raw_tracepoint(skel->progs.irq_vector_end,
									 vectors[i].end);
		if (times->links[2 * i])
			times->links[2 * i + 1] = bpf_program__attach_raw_tracepoint(
				skel->progs.irq_vector_begin, vectors[i].begin);
	}
}

static int attach(struct flamelet_bpf *skel)
{
	const struct {
		const struct bpf_program *program;
		struct bpf_link **link;
	} all[] = {
		{ skel->progs.irq_begin, &skel->links.irq_begin },
		{ skel->progs.irq_end, &skel->links.irq_end },
		{ skel->progs.softirq_begin, &skel->links.softirq_begin },
		{ skel->progs.softirq_end, &skel->links.softirq_end },
	};

	for (size_t i = 0; i < array_len(all); i++) {
		*all[i].link = bpf_program__attach(all[i].program);
		if (!*all[i].link)
			return -errno;
	}
	return 0;
}

int irq_times_open(struct irq_times *times, struct flamelet_bpf *skel,
		   const struct cpu_set_bits *cpus)
{
	if (!skel->rodata->irq_is_followed)
		return 0;
	times->nr_cpus = bpf_map__max_entries(skel->maps.irq_cpus);
	for (size_t i = 0; i < array_len(times->wanted.words); i++)
		times->wanted.words[i] = cpus ? cpus->words[i] : UINT64_MAX;
	times->seen = calloc(times->nr_cpus, sizeof(*times->seen));
	if (!times->seen)
		return -ENOMEM;
	void *memory = mmap(NULL, map_bytes(times->nr_cpus), PROT_READ, MAP_SHARED,
			    bpf_map__fd(skel->maps.irq_cpus), 0);
	if (memory == MAP_FAILED)
		return -errno;
	times->cpus = memory;
	int r = attach(skel);
	if (r == 0)
		attach_vectors(times, skel);
	return r;
}

void irq_times_close(struct irq_times *times)
{
	for (size_t i = 0; i < array_len(times->links); i++)
		bpf_link__destroy(times->links[i]);
	if (times->cpus)
		munmap((void *)times->cpus, map_bytes(times->nr_cpus));
	times->cpus = NULL;
	free(times->seen);
	times->seen = NULL;
}

/* Returns what came to a sum. */
static uint64_t advance(const struct irq_sum *sum, struct irq_sum *seen)
{
	uint64_t now_ns = __atomic_load_n(&sum->ns, __ATOMIC_RELAXED);
	uint64_t ns = now_ns - seen->ns;

	seen->ns = now_ns;
	return ns;
}

static void name_vector(uint64_t key, struct irq_time *time)
{
	for (size_t i = 0; i < array_len(vectors); i++)
		if (key == (IRQ_VECTOR_BIT | vectors[i].number))
			snprintf(time->name, sizeof(time->name), "%s", vectors[i].name);
}

static void take_line(const struct irq_line *line, struct irq_line *seen, struct irq_time *time,
		      irq_time_fn handle, void *data)
{
	time->ns = advance(&line->sum, &seen->sum);
	if (time->ns == 0)
		return;
	time->handler = line->handler;
	memcpy(time->name, line->name, sizeof(time->name));
	time->name[sizeof(time->name) - 1] = '\0';
	name_vector(line->key, time);
	handle(time, data);
}

static void take_cpu(const struct irq_cpu *cpu, struct irq_cpu *seen, uint32_t number,
		     irq_time_fn handle, void *data)
{
	struct irq_time time = { .cpu = number };

	for (uint32_t i = 0; i < SOFTIRQ_NR; i++) {
		time = (struct irq_time){ .cpu = number, .is_soft = true, .vector = i };
		time.ns = advance(&cpu->softirqs[i], &seen->softirqs[i]);
		if (time.ns > 0)
			handle(&time, data);
	}
	time = (struct irq_time){ .cpu = number };
	time.ns = advance(&cpu->others, &seen->others);
	if (time.ns > 0)
		handle(&time, data);
	for (uint32_t i = 0; i < IRQ_LINES; i++)
		take_line(&cpu->lines[i], &seen->lines[i], &time, handle, data);
}

void irq_times_take(struct irq_times *times, irq_time_fn handle, void *data)
{
	for (uint32_t i = 0; times->cpus && i < times->nr_cpus; i++)
		if (cpu_set_has(&times->wanted, i))
			take_cpu(&times->cpus[i], &times->seen[i], i, handle, data);
}

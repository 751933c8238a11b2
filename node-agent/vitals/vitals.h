/* SPDX-License-Identifier: Apache-2.0 */
/* What a node did in one second, as its kernel counts it in /proc: CPU time by kind, threads that
 * run or wait, memory, and the time lost to pressure. Samples say which code used the CPUs; vitals
 * say how busy the node was, and what its threads waited for. */
#ifndef VITALS_VITALS_H
#define VITALS_VITALS_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

enum vital_unit {
	VITAL_NS, /* nanoseconds per second */
	VITAL_BYTES,
	VITAL_COUNT,
};

/* Symbol, name, unit, whether the kernel's value is a counter that only grows, meaning. Files of
 * the record have the vitals in this order: new ones are added at the end. */
#define VITALS(X)                                                                                  \
	X(VITAL_USER, "user", VITAL_NS, true, "CPU time in user space, on all CPUs")               \
	X(VITAL_SYSTEM, "system", VITAL_NS, true, "CPU time in the kernel, without interrupts")    \
	X(VITAL_IRQ, "irq", VITAL_NS, true, "CPU time in hardware interrupts")                     \
	X(VITAL_SOFTIRQ, "softirq", VITAL_NS, true, "CPU time in software interrupts")             \
	X(VITAL_STEAL, "steal", VITAL_NS, true,                                                    \
	  "time that the hypervisor gave to other virtual machines")                               \
	X(VITAL_IDLE, "idle", VITAL_NS, true, "idle CPU time")                                     \
	X(VITAL_IOWAIT, "iowait", VITAL_NS, true, "idle CPU time while threads waited for disks")  \
	X(VITAL_RUNNABLE, "runnable", VITAL_COUNT, false,                                          \
	  "threads that run or wait for a CPU, at the end of the second")                          \
	X(VITAL_RUN_DELAY, "run_delay", VITAL_NS, true, "time that all threads waited for a CPU")  \
	X(VITAL_MEMORY_TOTAL, "memory_total", VITAL_BYTES, false, "memory of the node")            \
	X(VITAL_MEMORY_AVAILABLE, "memory_available", VITAL_BYTES, false,                          \
	  "memory that programs can still get without swapping")                                   \
	X(VITAL_PSI_CPU, "psi_cpu", VITAL_NS, true, "time in which a thread waited for a CPU")     \
	X(VITAL_PSI_MEMORY, "psi_memory", VITAL_NS, true,                                          \
	  "time in which a thread waited for memory")                                              \
	X(VITAL_PSI_IO, "psi_io", VITAL_NS, true, "time in which a thread waited for I/O")         \
	X(VITAL_FORKS, "forks", VITAL_COUNT, true, "processes and threads that were created")      \
	X(VITAL_CONTEXT_SWITCHES, "context_switches", VITAL_COUNT, true, "context switches")       \
	X(VITAL_OOM_KILLS, "oom_kills", VITAL_COUNT, true,                                         \
	  "processes that were killed because memory was used up")                                 \
	X(VITAL_TICK_DELAY, "tick_delay", VITAL_NS, false,                                         \
	  "time by which the agent woke up too late at the end of the second")

#define VITAL_SYMBOL(symbol, name, unit, is_counter, help) symbol,
enum vital { VITALS(VITAL_SYMBOL) VITAL_NR };
#undef VITAL_SYMBOL

struct vital_info {
	const char *name; /* stable: in files, options and output */
	enum vital_unit unit;
	bool is_counter;
	const char *help;
};

/* Static. */
const struct vital_info *vital_info(enum vital vital);

/* Returns the vital with a name, or VITAL_NR. */
enum vital vital_find(const char *name);

/* Returns "ns", "bytes" or "count". */
const char *vital_unit_name(enum vital_unit unit);

struct vitals {
	/* Counters: the increase per second. Others: the value at the end of the second. */
	uint64_t values[VITAL_NR];
	uint32_t has; /* bit of each vital that is known: kernels and virtual machines lack some */
};

static inline bool vitals_has(const struct vitals *vitals, enum vital vital)
{
	return vitals->has & UINT32_C(1) << vital;
}

static inline void vitals_set(struct vitals *vitals, enum vital vital, uint64_t value)
{
	vitals->values[vital] = value;
	vitals->has |= UINT32_C(1) << vital;
}

enum { VITALS_NR_FILES = 7 };

/* A file that is kept open, and what was read from it last. */
struct vitals_file {
	int fd; /* owned; negative: this kernel lacks it */
	uint64_t read_ns; /* 0: never */
	uint64_t interval_ns; /* least time between two readings */
	struct vitals last; /* the kernel's values */
};

struct vitals_reader {
	struct vitals_file files[VITALS_NR_FILES];
	struct strbuf text; /* owned */
};

/* Opens the files below a directory like /proc; `proc_fd` may be closed afterwards. A file that
 * cannot be opened is left out. */
void vitals_reader_open(int proc_fd, struct vitals_reader *ret_reader);
void vitals_reader_close(struct vitals_reader *reader);

/* Reads the vitals at a time of a monotonic clock, all but VITAL_TICK_DELAY. A counter's value is
 * its increase since the last reading, divided by the seconds between: so it is missing in the
 * first reading. It is rounded, but what has increased is never 0. A file that is expensive to read
 * (that of run_delay, with many CPUs) is read every few seconds only; its values are missing in the
 * others. */
void vitals_reader_read(struct vitals_reader *reader, uint64_t now_ns, struct vitals *ret_vitals);

#endif

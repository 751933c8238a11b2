/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the BPF programs into the running kernel and prints how many
 * instructions its verifier looked at:
 *
 *	PROGRAM INSTRUCTIONS
 *
 * What the knobs switch off is not verified, and the two kinds of cgroup hierarchies exclude each
 * other: the programs are loaded once for each kind, with all targets, and the larger number
 * counts. Exit status 1: one does not load, and stderr has what the verifier said; 77: not root. */
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "flamelet_bpf.skel.h"

/* BPF_LOG_LEVEL1 and BPF_LOG_STATS of include/linux/bpf_verifier.h in the kernel. */
#define LOG_INSTRUCTIONS 1
#define LOG_STATS 4

#define LOG_BYTES ((size_t)16 << 20) /* what is not written takes no memory */
#define MAX_PROGRAMS 32

DEFINE_FREEP(struct flamelet_bpf, flamelet_bpf__destroy)

struct program {
	char name[64];
	char *log; /* owned; what the verifier said last */
	unsigned long nr_instructions; /* the most of all loads */
};

struct programs {
	struct program all[MAX_PROGRAMS];
	size_t nr;
};

static void programs_done(struct programs *programs)
{
	for (size_t i = 0; i < MAX_PROGRAMS; i++)
		free(programs->all[i].log);
}

/* As capture_bpf.c: a program for a tracepoint that this kernel lacks is not loaded. */
static void set_knobs(struct flamelet_bpf *skel, bool cgroup_is_v1)
{
	bool has_exit = libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;
	bool has_locks = libbpf_find_vmlinux_btf_id("contention_end", BPF_TRACE_RAW_TP) > 0;
	bool has_growth = libbpf_find_vmlinux_btf_id("rss_stat", BPF_TRACE_RAW_TP) > 0;

	skel->rodata->off_cpu_has_exit = has_exit;
	bpf_program__set_autoload(skel->progs.off_cpu_exit, has_exit);
	skel->rodata->lock_is_followed = has_locks;
	bpf_program__set_autoload(skel->progs.lock_begin, has_locks);
	bpf_program__set_autoload(skel->progs.lock_end, has_locks);
	skel->rodata->growth_is_followed = has_growth;
	bpf_program__set_autoload(skel->progs.growth, has_growth);
	skel->rodata->heap_is_followed = true;
	skel->rodata->wall_is_told = true;
	skel->rodata->irq_is_followed = true;
	skel->rodata->include_idle = true;
	skel->rodata->cgroup_is_v1 = cgroup_is_v1;
	skel->rodata->filter_by_pid = true;
	skel->rodata->filter_by_tid = true;
	skel->rodata->filter_by_comm = true;
}

static int set_log(struct bpf_program *bpf, uint32_t level, struct program *program)
{
	if (!program->log)
		program->log = calloc(1, LOG_BYTES);
	if (!program->log)
		return -ENOMEM;
	program->log[0] = '\0';
	snprintf(program->name, sizeof(program->name), "%s", bpf_program__name(bpf));
	bpf_program__set_log_level(bpf, level);
	return bpf_program__set_log_buf(bpf, program->log, LOG_BYTES);
}

static int load(bool cgroup_is_v1, uint32_t level, struct programs *programs)
{
	_cleanup_(flamelet_bpf__destroyp) struct flamelet_bpf *skel = flamelet_bpf__open();
	struct bpf_program *bpf;

	if (!skel)
		return -errno;
	set_knobs(skel, cgroup_is_v1);
	programs->nr = 0;
	bpf_object__for_each_program(bpf, skel->obj)
	{
		if (programs->nr == MAX_PROGRAMS)
			return -ENOSPC;
		int r = set_log(bpf, level, &programs->all[programs->nr++]);
		if (r < 0)
			return r;
	}
	return flamelet_bpf__load(skel);
}

/* "processed 1234 insns (limit 1000000) …" */
static void read_log(struct program *program)
{
	const char *found = strstr(program->log, "processed ");
	unsigned long nr;

	if (found && sscanf(found, "processed %lu insns", &nr) == 1 &&
	    nr > program->nr_instructions)
		program->nr_instructions = nr;
}

/* A load that failed is tried again with the instructions in its log. */
static int measure(bool cgroup_is_v1, struct programs *programs)
{
	int r = load(cgroup_is_v1, LOG_STATS, programs);

	if (r < 0) {
		(void)load(cgroup_is_v1, LOG_STATS | LOG_INSTRUCTIONS, programs);
		return r;
	}
	for (size_t i = 0; i < programs->nr; i++)
		read_log(&programs->all[i]);
	return 0;
}

static int fail(int error, const struct programs *programs)
{
	for (size_t i = 0; i < programs->nr; i++)
		fprintf(stderr, "--- %s\n%s", programs->all[i].name, programs->all[i].log);
	fprintf(stderr, "the programs do not load: %s\n", strerror(-error));
	return EXIT_FAILURE;
}

int main(void)
{
	_cleanup_(programs_done) struct programs programs = { 0 };

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	int r = measure(false, &programs);
	if (r == 0)
		r = measure(true, &programs);
	if (r < 0)
		return fail(r, &programs);
	for (size_t i = 0; i < programs.nr; i++)
		if (programs.all[i].nr_instructions > 0) /* it is for this kernel */
			printf("%s %lu\n", programs.all[i].name, programs.all[i].nr_instructions);
	return EXIT_SUCCESS;
}

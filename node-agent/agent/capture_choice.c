/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture_choice.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "capture/bpf/capture_bpf.h"
#include "capture/bpf/irq_times.h"
#include "capture/perf/capture_perf.h"
#include "config/option_value.h"
#include "privilege/refusal.h"

#include <stdbool.h>
#include <string.h>

#define CAUSE_MAX_BYTES 512

static int open_bpf(struct capture_opts *opts, struct strbuf *reterr_msg,
		    struct sample_source **ret_source)
{
	int r = capture_bpf_open(opts, reterr_msg, ret_source);
	if (r < 0)
		refusal_explain_load(r, reterr_msg);
	return r;
}

static int open_perf(struct capture_opts *opts, struct strbuf *reterr_msg,
		     struct sample_source **ret_source)
{
	int r = capture_perf_open(opts, reterr_msg, ret_source);
	if (r < 0 && reterr_msg->len == 0)
		refusal_append_perf(r, reterr_msg);
	return r;
}

/* Returns whether the kernel lacks BPF or does not permit it. Any other failure is our fault. */
static bool is_refusal(int error)
{
	return error == -EPERM || error == -EACCES || error == -ENOSYS || error == -EOPNOTSUPP;
}

/* Returns whether waits are wanted. `flamelet top` shows them only where it can. */
static bool wants_off_cpu(const struct options *options)
{
	if (options_want_kind(options, OPTION_KIND_WALL))
		return true;
	if (!options_want_kind(options, OPTION_KIND_OFF_CPU))
		return false;
	if (options->input.command != COMMAND_TOP || options->capture != OPTION_CAPTURE_PERF)
		return true;
	log_warn("what threads wait for is not shown: that needs --capture=bpf");
	return false;
}

const struct counted_event *capture_choice_event(const struct options *options)
{
	for (size_t kind = OPTION_KIND_EVENT; kind < value_kinds.nr_words; kind++)
		if (options_want_kind(options, (enum option_kind)kind))
			return counted_event_find(value_kinds.words[kind]);
	return NULL;
}

uint64_t capture_choice_event_period(const struct options *options)
{
	const struct counted_event *event = capture_choice_event(options);

	if (!event)
		return 0;
	return options->event_period > 0 ? options->event_period : event->period;
}

void capture_choice_apply(const struct options *options, struct capture_opts *opts)
{
	opts->off_cpu = wants_off_cpu(options);
	opts->only_locks = !opts->off_cpu;
	opts->wall = options_want_kind(options, OPTION_KIND_WALL);
	opts->may_lack_off_cpu = options_want_kind(options, OPTION_KIND_CPU);
	opts->locks = options_want_kind(options, OPTION_KIND_LOCK);
	opts->growth = options_want_kind(options, OPTION_KIND_GROWTH);
	opts->frees = options_want_kind(options, OPTION_KIND_HEAP);
	opts->allocations = opts->frees || options_want_kind(options, OPTION_KIND_ALLOC);
	opts->irq = options_want_kind(options, OPTION_KIND_IRQ);
	opts->only_irq = options->kinds == 1U << OPTION_KIND_IRQ;
	opts->off_cpu = opts->off_cpu || opts->locks;
	opts->min_block_ns = options->min_block_ns;
	opts->wakers = options->wakers;
	opts->event = capture_choice_event(options);
	opts->event_period = capture_choice_event_period(options);
}

/* Returns whether there are too many targets or too little memory: then perf would fail, too. */
static bool is_want_of_room(int error)
{
	return error == -ENOSPC || error == -ENOMEM;
}

static bool wants_more_than_samples(const struct capture_opts *opts)
{
	return opts->off_cpu || opts->locks || opts->growth || opts->allocations || opts->irq;
}

/* Leaves growth out where the kernel does not tell of it. Errors: -EOPNOTSUPP CPU time is not
 * wanted either. */
static int check_growth(struct capture_opts *opts, struct strbuf *reterr_msg)
{
	static const char cause[] = "this kernel has no type of the tracepoint rss_stat in "
				    "/sys/kernel/btf/vmlinux";

	if (!opts->growth || capture_bpf_knows_growth())
		return 0;
	if (!opts->may_lack_off_cpu) {
		strbuf_appendf(reterr_msg, "growth of memory cannot be recorded: %s", cause);
		return -EOPNOTSUPP;
	}
	log_warn("growth of memory is not recorded: %s", cause);
	opts->growth = false;
	return 0;
}

/* The same for time in interrupts. */
static int check_irq(struct capture_opts *opts, struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf cause = strbuf_with_max(CAUSE_MAX_BYTES);

	if (!opts->irq || irq_times_are_known(&cause))
		return 0;
	if (!opts->may_lack_off_cpu) {
		strbuf_appendf(reterr_msg, "time in interrupts cannot be recorded: %s",
			       strbuf_str(&cause));
		return -EOPNOTSUPP;
	}
	log_warn("time in interrupts is not recorded: %s", strbuf_str(&cause));
	opts->irq = false;
	return 0;
}

/* Opens BPF, with blocks if they are wanted and can be had. */
static int open_bpf_best(struct capture_opts *opts, struct strbuf *reterr_msg,
			 struct sample_source **ret_source)
{
	int r = check_growth(opts, reterr_msg);
	if (r == 0)
		r = check_irq(opts, reterr_msg);
	if (r < 0)
		return r;
	r = open_bpf(opts, reterr_msg, ret_source);
	if (r == 0 && opts->locks && !capture_bpf_knows_locks())
		log_warn("waits for locks of the kernel are not recorded, only those for locks of "
			 "programs: this kernel is older than 5.19");
	if (r == 0 || !wants_more_than_samples(opts) || !opts->may_lack_off_cpu ||
	    is_want_of_room(r))
		return r;
	log_warn("only CPU time is recorded: %s",
		 reterr_msg->len > 0 ? strbuf_str(reterr_msg) : strerror(-r));
	strbuf_clear(reterr_msg);
	opts->off_cpu = false;
	opts->locks = false;
	opts->growth = false;
	opts->allocations = opts->frees = false;
	opts->irq = false;
	return open_bpf(opts, reterr_msg, ret_source);
}

int capture_choice_open(enum option_capture wanted, struct capture_opts *opts, struct strbuf *why,
			struct strbuf *reterr_msg, struct sample_source **ret_source)
{
	if (wanted == OPTION_CAPTURE_PERF && wants_more_than_samples(opts)) {
		strbuf_append_str(reterr_msg,
				  "--kind alloc, heap, growth, irq, offcpu, wall and lock need "
				  "--capture=bpf");
		return -EOPNOTSUPP;
	}
	if (wanted == OPTION_CAPTURE_PERF) {
		strbuf_append_str(why, "--capture=perf");
		return open_perf(opts, reterr_msg, ret_source);
	}
	int r = open_bpf_best(opts, reterr_msg, ret_source);
	if (r == 0 || wanted == OPTION_CAPTURE_BPF || wants_more_than_samples(opts) ||
	    is_want_of_room(r))
		return r;
	if (reterr_msg->len > 0)
		strbuf_append_str(why, strbuf_str(reterr_msg));
	else
		strbuf_appendf(why, "the BPF programs cannot be loaded: %s", strerror(-r));
	strbuf_clear(reterr_msg);
	if (is_refusal(r))
		log_info("using the capture backend perf: %s", strbuf_str(why));
	else
		log_warn("using the capture backend perf, although this kernel should support bpf: "
			 "%s",
			 strbuf_str(why));
	return open_perf(opts, reterr_msg, ret_source);
}

void capture_choice_explain_start(const struct options *options, int error, struct strbuf *message)
{
	const struct counted_event *event = capture_choice_event(options);

	if (event && counted_event_is_lacking(error))
		strbuf_appendf(message,
			       "this machine does not count %s: it has no performance monitoring "
			       "unit, or its hypervisor hides it; record CPU time, or "
			       "sw:page-faults and the other events of the kernel",
			       counted_event_name(event));
	else
		refusal_append_perf(error, message);
}

void capture_choice_warn_of_small_rings(const struct sample_source *source)
{
	struct capture_stats stats;

	sample_source_get_stats(source, &stats);
	if (stats.ring_bytes < stats.ring_bytes_wanted / 2)
		log_warn("samples may be lost: the limit of locked memory allows sample buffers of "
			 "%llu KB per CPU, not %llu KB; add CAP_IPC_LOCK, raise ulimit -l or "
			 "kernel.perf_event_mlock_kb, or lower --stack-copy",
			 (unsigned long long)stats.ring_bytes / 1024,
			 (unsigned long long)stats.ring_bytes_wanted / 1024);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the capture backend: the one that the user asks for, or BPF where the kernel permits
 * it and perf elsewhere. */
#ifndef AGENT_CAPTURE_CHOICE_H
#define AGENT_CAPTURE_CHOICE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/perf_events/counted_event.h"
#include "capture/sample_source.h"
#include "config/options.h"

/* Returns the event of --kind hw:EVENT or sw:EVENT, or NULL. Static. */
const struct counted_event *capture_choice_event(const struct options *options);

/* Returns how many of these events a sample stands for, as the options want it; 0 without one. */
uint64_t capture_choice_event_period(const struct options *options);

/* Sets what is to be told of waits, and which event takes samples, as the options want it. */
void capture_choice_apply(const struct options *options, struct capture_opts *opts);

/* Opens BPF as the source of samples, or perf where that is wanted or BPF fails. `why` gets
 * the reason for perf, and stays empty for BPF. opts->off_cpu and opts->locks become false if there
 * will be no waits and opts->may_lack_off_cpu allows it. On failure `reterr_msg` says what failed,
 * and what to do. */
int capture_choice_open(enum option_capture wanted, struct capture_opts *opts, struct strbuf *why,
			struct strbuf *reterr_msg, struct sample_source **ret_source) must_check;

/* Appends why sampling could not start, and what to do, by the error of cpu_timers_follow(). */
void capture_choice_explain_start(const struct options *options, int error, struct strbuf *message);

/* Warns if the rings have less than half of the wanted size: then samples are lost if they come
 * faster than they are read. */
void capture_choice_warn_of_small_rings(const struct sample_source *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How samples are taken: as the user says, or by BPF where the kernel lets us and by perf where it does not. */
#ifndef AGENT_CAPTURE_CHOICE_H
#define AGENT_CAPTURE_CHOICE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/sample_source.h"
#include "config/options.h"

/* Opens the capture, with BPF, or with perf where that is wanted or BPF is refused. `why` says why it is perf, and stays
 * empty when it is BPF. On failure `reterr_msg` says what failed, and what to do. */
int capture_choice_open(enum option_capture wanted, struct capture_opts *opts, struct strbuf *why,
			struct strbuf *reterr_msg, struct sample_source **ret_source) must_check;

/* What is sampled faster than it is read is lost: with small rings sooner. Half of what is wanted does. */
void capture_choice_warn_of_small_rings(const struct sample_source *source);

#endif

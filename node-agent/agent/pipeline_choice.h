/* SPDX-License-Identifier: Apache-2.0 */
/* What the options choose of the pipeline: what is profiled, and how functions get their names. */
#ifndef AGENT_PIPELINE_CHOICE_H
#define AGENT_PIPELINE_CHOICE_H

#include "config/options.h"
#include "pipeline/pipeline.h"

/* Sets those fields of `opts`. They borrow strings of the options, and `debuginfod`, which is set
 * as well. Warns of a directory that debug files cannot be kept in. */
void pipeline_choice_apply(const struct options *options, struct pipeline_opts *opts,
			   struct debuginfod_opts *debuginfod);

#endif

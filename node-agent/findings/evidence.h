/* SPDX-License-Identifier: Apache-2.0 */
/* The evidence of a finding: which functions lead to it, whose CPU time it is, who causes it, and
 * an example of a stack. */
#ifndef FINDINGS_EVIDENCE_H
#define FINDINGS_EVIDENCE_H

#include "base/err.h"
#include "findings/findings.h"
#include "findings/stack_matcher.h"
#include "findings/units.h"

#include <stdbool.h>

struct evidence_input {
	const struct profile *profile; /* this and the following ones: borrowed */
	const struct stack_matcher *matcher;
	const struct units *programs; /* of SCOPE_PROGRAM */
	const bool *is_hit; /* by sample: whether it belongs to the finding */
	size_t rule;
};

/* Fills the members of a finding that are evidence. Names are kept in `names`. Errors: -ENOSPC,
 * -ENOMEM. */
int evidence_collect(const struct evidence_input *input, struct arena *names,
		     struct finding *finding) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the samples of a profile by cgroup, program, process or CPU, and names each part. */
#ifndef FINDINGS_UNITS_H
#define FINDINGS_UNITS_H

#include "base/err.h"
#include "base/strbuf.h"
#include "findings/finding_rules.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit {
	uint64_t total; /* of its samples */
	size_t sample; /* the first one */
	bool has_pids; /* it is several processes */
};

struct units {
	enum finding_scope scope;
	uint32_t *of_sample; /* the unit of each sample; owned */
	struct unit *units; /* owned */
	size_t nr, cap;
};

/* Errors: -ENOMEM; -ENOSPC more than 2^24 units. */
int units_init(struct units *units, enum finding_scope scope, const struct profile *profile)
	must_check;
void units_done(struct units *units);

/* Appends a name for people: "java (pid 1234) in pod shop/cart", "CPU 3". It is printable. */
void units_append_name(const struct units *units, size_t unit, const struct profile *profile,
		       struct strbuf *out);

#endif

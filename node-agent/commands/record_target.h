/* SPDX-License-Identifier: Apache-2.0 */
/* The targets of `record` and `agent`, as a selection of the samples of a record. */
#ifndef COMMANDS_RECORD_TARGET_H
#define COMMANDS_RECORD_TARGET_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/selector.h"

#include <stdbool.h>

/* Adds matchers for the options that name processes, CPUs, pods and cgroups. A cgroup is one of
 * this machine, as a record has only ids. On failure, `message` may say why. Errors: -EINVAL the
 * options cannot be combined, those of target_find_cgroups(), target_append_label_matchers() and
 * selector_add(). */
int record_target_select(const struct options *options, struct selector *selector,
			 struct strbuf *message) must_check;

/* Returns whether the options ask for some samples of a record only. A file has no labels to select
 * by. */
bool record_target_is_selecting(const struct options *options);

/* Returns a remark on targets that a record may lack, for a query that found nothing; NULL: none.
 * Static. */
const char *record_target_hint(const struct options *options);

#endif

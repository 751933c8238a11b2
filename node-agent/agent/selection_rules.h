/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select, as the rules of a selection. */
#ifndef AGENT_SELECTION_RULES_H
#define AGENT_SELECTION_RULES_H

#include "config/options.h"
#include "k8s/selection.h"

/* The rules borrow from the options. Paths of cgroups are as the user wrote them. */
void options_selection_rules(const struct options *options, struct selection_rules *ret_rules);

/* Whether a selection can be made of them; else `message` says why not. Errors:
 * those of selection_new(). */
int options_check_selection(const struct options *options, struct strbuf *message) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select, as the rules of a selection. */
#ifndef SELECTION_RULES_H
#define SELECTION_RULES_H

#include "config/options.h"
#include "k8s/selection.h"

/* The rules borrow from the options. Paths of cgroups are as the user wrote them. */
void options_selection_rules(const struct options *options, struct selection_rules *ret_rules);

#endif

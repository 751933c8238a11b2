/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a destination's options against each other. */
#ifndef CONFIG_DESTINATION_CHECK_H
#define CONFIG_DESTINATION_CHECK_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/destination.h"
#include "config/entry_list.h"

/* Checks a destination whose fields are set, and replaces its endpoint by the URL that the exporter
 * uses. `entries` is the list that the fields were set from; warnings are appended to it. Messages
 * have `prefix` before an option's name. Errors: -EINVAL with a message, -ENOSPC for too many
 * entries, -ENOMEM. */
int destination_check(struct destination *destination, struct entry_list *entries,
		      const char *prefix, struct strbuf *message) must_check;

#endif

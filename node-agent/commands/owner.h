/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMANDS_OWNER_H
#define COMMANDS_OWNER_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* Appends the owner of a sample's CPU time: the pod by its name or UID, the container, or the
 * process of the host with its service. */
void owner_append(const struct profile *profile, const struct profile_sample *sample,
		  struct strbuf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a node of a flame tree besides its name: "inlined, src/lib.rs:70". */
#ifndef PROFILE_FLAME_SOURCE_H
#define PROFILE_FLAME_SOURCE_H

#include "base/strbuf.h"
#include "profile/flame_tree.h"

/* Appends `before` and the description as XML text; nothing if there is no description. */
void flame_source_append(struct strbuf *out, const char *before, const struct profile *profile,
			 const struct flame_node *node);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a node of a flame tree besides its name: "inlined, src/lib.rs:70". */
#ifndef PROFILE_FLAME_SOURCE_H
#define PROFILE_FLAME_SOURCE_H

#include "base/strbuf.h"
#include "profile/flame_tree.h"

/* Appends it as XML text, and `before` before it unless there is nothing. */
void flame_source_append(struct strbuf *out, const char *before, const struct profile *profile,
			 const struct flame_node *node);

#endif

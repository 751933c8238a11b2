/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens a function's name for a narrow box to the end of the name, which is the most informative
 * part.
 *
 *	github.com/acme/cmd/compile.walkExpr	…/cmd/compile.walkExpr
 *	std::vector<int>::push_back(int&&)	std::vector<int>::push_back…, …::push_back
 *	entry_SYSCALL_64_after_hwframe		entry_SYSC…
 *
 * A name is cut before "/" or "::", in Go also behind the package and a method's receiver, so that
 * whole words are left. Where not even the last word fits, there is its beginning. flamegraph.js
 * does the same. */
#ifndef PROFILE_FLAME_LABEL_H
#define PROFILE_FLAME_LABEL_H

#include "base/strbuf.h"
#include "profile/flame_tree.h"

#include <stddef.h>

/* Appends as XML text the part of a name that is shown, at most `max_chars` characters. Errors are
 * kept in `out`. */
void flame_label_append(struct strbuf *out, const char *name, enum flame_kind kind,
			size_t max_chars);

#endif

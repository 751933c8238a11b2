/* SPDX-License-Identifier: Apache-2.0 */
/* The content security policy of a page of HTML that is one file: the page loads nothing from
 * anywhere, and runs no script but its own. */
#ifndef PROFILE_PAGE_POLICY_H
#define PROFILE_PAGE_POLICY_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends the policy as an element of the head. `scripts` are the SHA-256 hashes of the permitted
 * scripts, in hexadecimal digits. `style` is that of the style sheet; NULL permits any style. */
void page_policy_append(struct strbuf *out, const char *const *scripts, size_t nr_scripts,
			const char *style);

#endif

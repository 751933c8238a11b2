/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_XML_H
#define PROFILE_XML_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends the printable form of a text (base/printable.h), escaped for XML text and attribute
 * values. */
void xml_append(struct strbuf *out, const char *text);

/* Appends the same, truncated to `max_chars` characters, the last of which is then an ellipsis. An
 * escape counts as four characters and is not split. */
void xml_append_elided(struct strbuf *out, const char *text, size_t max_chars);

#endif

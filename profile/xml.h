/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_XML_H
#define PROFILE_XML_H

#include "base/strbuf.h"

#include <stddef.h>

/* Appends any bytes so that they stand for themselves in XML text and attribute values. What XML
 * 1.0 cannot hold (control characters, malformed UTF-8, noncharacters) becomes U+FFFD. */
void xml_append(struct strbuf *out, const char *text);

/* The same, cut to `max_chars` characters, the last of which is then an ellipsis. */
void xml_append_elided(struct strbuf *out, const char *text, size_t max_chars);

#endif

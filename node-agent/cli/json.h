/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing about writing JSON that is not plain text: strings. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "base/strbuf.h"

/* Appends `text` as a JSON string with its quotes (RFC 8259, section 7). Bytes that are not UTF-8 become
 * U+FFFD. */
void json_append_string(struct strbuf *out, const char *text);

#endif

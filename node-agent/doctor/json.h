/* SPDX-License-Identifier: Apache-2.0 */
/* Writes strings for JSON. */
#ifndef DOCTOR_JSON_H
#define DOCTOR_JSON_H

#include "base/strbuf.h"

/* Appends the printable form of `text` (base/printable.h) as a JSON string with its quotes (RFC
 * 8259, section 7). The backslash of an escape stays part of the text: a decoder of the string gets
 * "\x1b". */
void json_append_string(struct strbuf *out, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes strings of JSON text (RFC 8259, section 7). */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/strbuf.h"

/* Appends a string with its quotation marks. Its value is the printable form of the text
 * (base/printable.h): a decoder gets the four characters "\x1b" for an escape character. */
void json_append_text(struct strbuf *out, const char *text);

/* Appends a member of an object whose value is such a string: "name":"text". */
void json_append_member(struct strbuf *out, const char *name, const char *text);

#endif

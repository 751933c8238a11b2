/* SPDX-License-Identifier: Apache-2.0 */
/* An OTLP request as text, a line a sample:
 *
 *	{service.name=web} thread.name=web cpu.logical_number=0: read[kernel] main[native] = 7
 *
 * A frame with a mapping reads "libx.so+0x12[native @18 /usr/lib/libx.so build id]", one of several
 * lines "inner(file.c:10):15<outer(file.c:30):41[native]": each function with its file and first
 * line, and the line in it; what is not known is left out. Samples with time stamps end in those,
 * "@1795188153000000000", in place of a value. */
#ifndef TESTS_ORACLE_OTLP_TEXT_H
#define TESTS_ORACLE_OTLP_TEXT_H

#include "base/strbuf.h"

/* Errors: -EBADMSG when the body is not what we write. */
int otlp_text(const struct strbuf *body, struct strbuf *out) must_check;

/* Describes the values of the first profile: "samples/count cpu/nanoseconds 10000000", "-" for no
 * period type. */
int otlp_text_types(const struct strbuf *body, struct strbuf *out) must_check;

/* The first profile's original payload; borrowed from the body. */
const void *otlp_text_payload(const struct strbuf *body, size_t *ret_len);

#endif

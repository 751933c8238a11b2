/* SPDX-License-Identifier: Apache-2.0 */
/* Reads PEM certificates (RFC 7468) to compare them. */
#ifndef BASE_PEM_H
#define BASE_PEM_H

#include "base/err.h"
#include "base/strbuf.h"

/* Appends the base64 digits of the first certificate in `text`, without white space: two
 * certificates are equal if their digits are. Text around the certificate, such as a key, is
 * skipped. Errors: -EBADMSG if there is no complete certificate; -ENOSPC, -ENOMEM of the buffer. */
int pem_first_certificate(const char *text, struct strbuf *digits) must_check;

#endif

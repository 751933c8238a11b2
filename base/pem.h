/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates as text (RFC 7468), as far as it takes to tell whether two are the same. */
#ifndef BASE_PEM_H
#define BASE_PEM_H

#include "base/err.h"
#include "base/strbuf.h"

/* Appends the base64 digits of the first certificate in `text`, without blanks and line ends:
 * two certificates are the same when these are. What stands around it, other keys for example,
 * is passed over.
 * Errors: -EBADMSG when there is no certificate, or it is not whole; -ENOSPC, -ENOMEM of the
 * buffer. */
int pem_first_certificate(const char *text, struct strbuf *digits) must_check;

#endif

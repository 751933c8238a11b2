/* SPDX-License-Identifier: Apache-2.0 */
/* Checks where a request comes from. A page of another origin that is open in the same browser can
 * send requests to loopback, too; its own name may even resolve to 127.0.0.1 (DNS rebinding).
 * Headers that the browser adds show such requests. */
#ifndef UI_UI_CHECK_H
#define UI_UI_CHECK_H

#include <stdbool.h>

/* Headers of a request; NULL: it has none of that name. Borrowed. */
struct ui_headers {
	const char *host;
	const char *origin;
	const char *fetch_site; /* Sec-Fetch-Site */
	const char *accept_encoding;
	bool has_twice; /* one of the first three was sent twice */
};

/* Returns why the request is refused, as a static sentence; NULL: it is not. */
const char *ui_check_headers(const struct ui_headers *headers);

/* Returns whether the client takes a compressed answer (RFC 9110, 12.5.3); NULL: no. */
bool ui_check_accepts_gzip(const char *accept_encoding);

#endif

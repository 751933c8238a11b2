/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_check.h"

#include "base/err.h"
#include "base/parse.h"
#include "base/strview.h"

#include <stdint.h>
#include <string.h>

#define SCHEME "http://"
#define BLANKS " \t"

/* Returns whether the text is one of the names of this machine for itself, with any port or none: a
 * tunnel may have another port than the server. */
static bool is_own_host(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	uint32_t port;

	for (size_t i = 0; i < array_len(names); i++) {
		const char *rest = host + strlen(names[i]);

		if (strncmp(host, names[i], strlen(names[i])) != 0)
			continue;
		if (*rest == '\0')
			return true;
		return *rest == ':' && parse_u32(rest + 1, &port) == 0 && port >= 1 &&
		       port <= UINT16_MAX;
	}
	return false;
}

/* The page's own requests have its origin. */
static bool is_own_origin(const char *origin, const char *host)
{
	return strncmp(origin, SCHEME, strlen(SCHEME)) == 0 &&
	       strcmp(origin + strlen(SCHEME), host) == 0;
}

static bool is_own_site(const char *site)
{
	return strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0;
}

const char *ui_check_headers(const struct ui_headers *headers)
{
	if (headers->has_twice)
		return "a header was sent twice";
	if (!headers->host || !is_own_host(headers->host))
		return "the host is not 127.0.0.1, [::1] or localhost";
	if (headers->origin && !is_own_origin(headers->origin, headers->host))
		return "the request comes from another page";
	if (headers->fetch_site && !is_own_site(headers->fetch_site))
		return "the request comes from another site; open the address in a new tab";
	return NULL;
}

static struct strview trim(struct strview view)
{
	while (view.len > 0 && strchr(BLANKS, view.text[0]))
		view = strview_tail(view, view.len - 1);
	while (view.len > 0 && strchr(BLANKS, view.text[view.len - 1]))
		view = strview_head(view, view.len - 1);
	return view;
}

/* "0", "0.", "0.000" */
static bool is_zero(struct strview weight)
{
	return weight.len > 0 && weight.text[0] == '0' && strview_has_only(weight, "0.");
}

/* "gzip", "gzip;q=0.5" */
static bool is_gzip(struct strview coding)
{
	struct strview part = { 0 };

	if (!strview_next(&coding, ';', &part) || !strview_is(trim(part), "gzip"))
		return false;
	while (strview_next(&coding, ';', &part)) {
		part = trim(part);
		if (strview_starts_with(part, "q=") && is_zero(strview_without_prefix(part, "q=")))
			return false;
	}
	return true;
}

bool ui_check_accepts_gzip(const char *accept_encoding)
{
	struct strview rest, coding;

	if (!accept_encoding)
		return false;
	rest = strview_of(accept_encoding, SIZE_MAX);
	while (strview_next(&rest, ',', &coding))
		if (is_gzip(coding))
			return true;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/transport_opts.h"

#include "base/strview.h"

#include <string.h>

static bool is_one_word(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return false;
	return true;
}

/* Returns the part after "scheme://", or NULL. */
static const char *find_host(const char *url)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < array_len(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return url + strlen(schemes[i]);
	return NULL;
}

int transport_opts_url(const struct transport_opts *opts, struct strbuf *out)
{
	const struct protocol *protocol = protocol_get(opts->protocol);
	const char *endpoint = opts->endpoint, *host = find_host(endpoint);

	if (!host || strcspn(host, "/?#:") == 0 || !is_one_word(endpoint))
		return -EINVAL;

	const char *path = host + strcspn(host, "/?#");
	if (protocol->has_one_path && path[path[0] == '/'] != '\0')
		return -EINVAL;

	const char *query = path + strcspn(path, "?#");
	bool is_base = !opts->endpoint_is_full || protocol->has_one_path;
	size_t len = (size_t)(query - endpoint);
	while (is_base && endpoint[len - 1] == '/')
		len--;
	strbuf_append(out, endpoint, len);
	if (is_base && !strview_ends_with((struct strview){ endpoint, len }, protocol->path))
		strbuf_append_str(out, protocol->path);
	strbuf_append_str(out, query);
	return strbuf_error(out) == -ENOSPC ? -EINVAL : strbuf_error(out);
}

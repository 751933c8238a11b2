/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/transport_url.h"

#include <string.h>

static const char *const paths[] = {
	[TRANSPORT_OTLP_HTTP] = "/v1development/profiles",
	[TRANSPORT_OTLP_GRPC] =
		"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
	[TRANSPORT_PYROSCOPE] = "/push.v1.PusherService/Push",
};

static bool is_one_word(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return false;
	return true;
}

/* The part behind "scheme://", or NULL. */
static const char *find_host(const char *url)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < array_len(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return url + strlen(schemes[i]);
	return NULL;
}

static bool ends_with(const char *text, size_t len, const char *tail)
{
	size_t tail_len = strlen(tail);

	return len >= tail_len && memcmp(text + len - tail_len, tail, tail_len) == 0;
}

int transport_url(enum transport_protocol protocol, const char *endpoint, bool is_full,
		  struct strbuf *out)
{
	const char *host = find_host(endpoint);
	bool is_grpc = protocol == TRANSPORT_OTLP_GRPC;

	if (!host || strcspn(host, "/?#:") == 0 || !is_one_word(endpoint))
		return -EINVAL;

	const char *path = host + strcspn(host, "/?#");
	if (is_grpc && path[path[0] == '/'] != '\0')
		return -EINVAL;

	const char *query = path + strcspn(path, "?#");
	bool is_base = !is_full || is_grpc;
	size_t len = (size_t)(query - endpoint);
	while (is_base && endpoint[len - 1] == '/')
		len--;
	strbuf_append(out, endpoint, len);
	if (is_base && !ends_with(endpoint, len, paths[protocol]))
		strbuf_append_str(out, paths[protocol]);
	strbuf_append_str(out, query);
	return strbuf_error(out) == -ENOSPC ? -EINVAL : strbuf_error(out);
}

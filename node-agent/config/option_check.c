/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_check.h"

#include "base/hex.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "config/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#define COMM_MAX_BYTES 15
#define DNS_NAME_MAX 253
#define DNS_LABEL_MAX 63
#define LABEL_KEY_MAX (DNS_NAME_MAX + 1 + DNS_LABEL_MAX)
#define CONTAINER_ID_LEN 64
#define URLS_MAX_BYTES 4000
#define TENANT_MAX_BYTES 150 /* the limit of Grafana's databases */
#define HOST_BYTES (INET6_ADDRSTRLEN + 2) /* with brackets */
#define SOCKET_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

static bool is_printable(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

int check_any(const char *text)
{
	(void)text;
	return 0;
}

int check_name(const char *text)
{
	return *text && is_printable(text) ? 0 : -EINVAL;
}

static bool is_dns_name(const char *text, size_t len)
{
	return len > 0 && len <= DNS_NAME_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-") >= len;
}

static bool is_dns_label(const char *text)
{
	return is_dns_name(text, strlen(text)) && strlen(text) <= DNS_LABEL_MAX &&
	       !strchr(text, '.');
}

int check_namespace(const char *text)
{
	return is_dns_label(text) ? 0 : -EINVAL;
}

int check_pod(const char *text)
{
	const char *slash = strchr(text, '/');
	const char *name = slash ? slash + 1 : text;

	if (slash && (slash - text > DNS_LABEL_MAX || !is_dns_name(text, (size_t)(slash - text))))
		return -EINVAL;
	return is_dns_name(name, strlen(name)) ? 0 : -EINVAL;
}

/* The beginning of an ID is a valid name. A whole ID is one digit too long for a name. */
int check_container(const char *text)
{
	return is_dns_label(text) || hex_is(text, CONTAINER_ID_LEN) ? 0 : -EINVAL;
}

int check_selector(const char *text)
{
	return text[strspn(text, " ")] && is_printable(text) ? 0 : -EINVAL;
}

int check_label_key(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_./");

	if (text[len] == '*')
		len++;
	return len > 0 && len <= LABEL_KEY_MAX && text[len] == '\0' ? 0 : -EINVAL;
}

/* The keys of attributes, and the words for some of them, consist of the same characters. */
int check_group(const char *text)
{
	return strchr(text, '*') ? -EINVAL : check_label_key(text);
}

/* Copies the host of "HOST:PORT". */
static int take_host(const char *text, uint32_t min_port, char host[static HOST_BYTES])
{
	const char *colon = strrchr(text, ':');
	uint32_t port;

	if (!colon || parse_u32(colon + 1, &port) < 0 || port < min_port || port > UINT16_MAX ||
	    (size_t)(colon - text) >= HOST_BYTES)
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	return 0;
}

/* Returns whether only this machine can reach the host. */
static bool is_loopback(const char *host)
{
	struct in_addr address;

	if (strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, host, &address) == 1 &&
	       ntohl(address.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

static bool is_socket(const char *text)
{
	return strncmp(text, "unix:/", 6) == 0 && text[6] && strlen(text + 5) < SOCKET_PATH_BYTES &&
	       is_printable(text);
}

int check_listen(const char *text)
{
	char host[HOST_BYTES];

	if (is_socket(text))
		return 0;
	return take_host(text, 1, host) == 0 && is_loopback(host) ? 0 : -EINVAL;
}

/* Browsers know this machine by these names. Port 0 means any free one. */
int check_ui_listen(const char *text)
{
	char host[HOST_BYTES];

	if (is_socket(text))
		return 0;
	if (take_host(text, 0, host) < 0)
		return -EINVAL;
	return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "localhost") == 0 ||
			       strcmp(host, "[::1]") == 0
		       ? 0
		       : -EINVAL;
}

/* Returns whether the host is "[ADDRESS]". Changes `host`. */
static bool is_v6(char *host)
{
	size_t len = strlen(host);
	struct in6_addr address;

	if (len < 2 || host[0] != '[' || host[len - 1] != ']')
		return false;
	host[len - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address) == 1;
}

int check_metrics_listen(const char *text)
{
	struct in_addr address;
	char host[HOST_BYTES];

	if (take_host(text, 1, host) < 0)
		return -EINVAL;
	return strcmp(host, "*") == 0 || inet_pton(AF_INET, host, &address) == 1 || is_v6(host)
		       ? 0
		       : -EINVAL;
}

int check_comm(const char *text)
{
	return *text && strlen(text) <= COMM_MAX_BYTES ? 0 : -EINVAL;
}

/* Returns whether the text begins with a scheme and a host. */
static bool has_scheme_and_host(const char *text)
{
	size_t scheme_len = strncasecmp(text, "https://", 8) == 0  ? 8
			    : strncasecmp(text, "http://", 7) == 0 ? 7
								   : 0;

	return scheme_len > 0 && text[scheme_len] && !strchr("/:?# ", text[scheme_len]);
}

int check_url(const char *text)
{
	return has_scheme_and_host(text) && !strchr(text, ' ') && is_printable(text) ? 0 : -EINVAL;
}

/* Checks one or more URLs, separated by spaces. */
int check_urls(const char *text)
{
	const char *url = text + strspn(text, " ");

	if (*url == '\0' || strlen(text) > URLS_MAX_BYTES || !is_printable(text))
		return -EINVAL;
	while (*url) {
		if (!has_scheme_and_host(url))
			return -EINVAL;
		url += strcspn(url, " ");
		url += strspn(url, " ");
	}
	return 0;
}

/* Checks a header by RFC 9110, 5.1 and 5.5: a token, a colon, any printable text. */
int check_header(const char *text)
{
	size_t name_len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789!#$%&'*+-.^_`|~");

	return name_len > 0 && text[name_len] == ':' && is_printable(text) ? 0 : -EINVAL;
}

int check_file(const char *text)
{
	if (*text == '\0')
		return -EINVAL;
	return access(text, R_OK) < 0 ? -errno : 0;
}

int check_directory(const char *text)
{
	return *text == '/' && is_printable(text) ? 0 : -EINVAL;
}

int check_endpoint(const char *text)
{
	struct endpoint endpoint;

	return endpoint_parse(text, &endpoint);
}

/* Checks a header's value that has no blanks, which would be invisible. */
int check_tenant(const char *text)
{
	size_t len = 0;

	while (text[len] > ' ' && text[len] < 0x7f)
		len++;
	return len > 0 && len <= TENANT_MAX_BYTES && text[len] == '\0' ? 0 : -EINVAL;
}

int check_attribute(const char *text)
{
	size_t key_len = strcspn(text, "=");

	return key_len > 0 && text[key_len] == '=' && utf8_is_valid(text) && is_printable(text)
		       ? 0
		       : -EINVAL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/copy_hint.h"

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_MAX_BYTES 63
#define WORD_MAX_BYTES 8192
#define SSH_PORT 22

struct server {
	char address[ADDRESS_MAX_BYTES + 1];
	uint32_t port;
};

/* Finds the third and fourth of four words: the server's address and port. */
static int parse_server(const char *ssh_connection, struct server *ret_server)
{
	struct server server;
	const char *word = ssh_connection;

	for (int i = 0; i < 2; i++) {
		word = strchr(word, ' ');
		if (!word)
			return -EINVAL;
		word++;
	}

	size_t len = strcspn(word, " ");
	if (len == 0 || len > ADDRESS_MAX_BYTES || word[len] != ' ' ||
	    strspn(word, "0123456789abcdefABCDEF.:%") < len)
		return -EINVAL;
	memcpy(server.address, word, len);
	server.address[len] = '\0';
	if (parse_u32(word + len + 1, &server.port) < 0)
		return -EINVAL;
	*ret_server = server;
	return 0;
}

static int append_source(const struct server *server, const char *user, const char *file,
			 struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf word = strbuf_with_max(WORD_MAX_BYTES);
	_cleanup_free_ char *path = realpath(file, NULL);

	if (!path)
		return -EINVAL;
	if (user && *user)
		strbuf_appendf(&word, "%s@", user);
	strbuf_appendf(&word, strchr(server->address, ':') ? "[%s]:%s" : "%s:%s", server->address,
		       path);
	text_append_shell_word(out, strbuf_str(&word));
	strbuf_append_char(out, ' ');
	return strbuf_error(&word);
}

int copy_hint_append(const char *ssh_connection, const char *user, char *const *files,
		     size_t nr_files, struct strbuf *out)
{
	struct server server;

	int r = parse_server(ssh_connection, &server);
	if (r < 0)
		return r;
	strbuf_append_str(out, "scp ");
	if (server.port != SSH_PORT)
		strbuf_appendf(out, "-P %u ", server.port);
	for (size_t i = 0; i < nr_files; i++) {
		if (strcmp(files[i], "-") == 0)
			continue;
		r = append_source(&server, user, files[i], out);
		if (r < 0)
			return r;
	}
	strbuf_append_str(out, ".\n");
	return strbuf_error(out);
}

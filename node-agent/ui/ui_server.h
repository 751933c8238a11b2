/* SPDX-License-Identifier: Apache-2.0 */
/* The server of `flamelet ui`: HTTP for a browser on this machine, or at the other end of a tunnel.
 * It reads requests and checks who asks; a handler answers them, one at a time.
 *
 *	ui_server_open() ─▶ ui_server_append_url() ─▶ ui_server_run()	until a signal comes
 *
 * Only GET and HEAD are served, only below the token. No client can hold up others
 * (ui_connections.h), except by questions that take long to answer. */
#ifndef UI_UI_SERVER_H
#define UI_UI_SERVER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "ui/ui_request.h"

#include <stdbool.h>

#define UI_FILE_NAME_BYTES 256
#define UI_WARNINGS_BYTES 1024

struct ui_reply {
	unsigned int status; /* of HTTP */
	const char *content_type; /* static */
	struct strbuf body;
	bool is_packed; /* compression would not make it smaller */
	char file_name[UI_FILE_NAME_BYTES]; /* under which a browser saves it; "": it shows it */
	/* What the body lacks, for the header Flamelet-Warnings: printable ASCII; "": nothing. */
	char warnings[UI_WARNINGS_BYTES];
};

struct ui_server_opts {
	const char *listen; /* see listen_address_parse() */
	char token[UI_TOKEN_LEN + 1];
	/* Fills in the reply, whose body has a limit already. */
	void (*answer)(const struct ui_request *request, struct ui_reply *reply, void *data);
	void *data; /* passed to answer() */
};

struct ui_server;

/* On failure `reterr_msg` may say what is wrong with the address. Errors: those of
 * listen_address_parse() and listen_socket_open(), -ENOMEM. */
int ui_server_open(const struct ui_server_opts *opts, struct strbuf *reterr_msg,
		   struct ui_server **ret_server) must_check;

/* Appends the URL that the user opens in a browser. For a Unix socket, its host is "localhost". */
void ui_server_append_url(const struct ui_server *server, struct strbuf *out);

/* Returns the port, 0 for a Unix socket. */
unsigned int ui_server_port(const struct ui_server *server);

/* Serves until `stop_fd` is readable. Errors: those of poll(2). */
int ui_server_run(struct ui_server *server, int stop_fd) must_check;

/* NULL is fine. */
void ui_server_close(struct ui_server *server);
DEFINE_FREEP(struct ui_server, ui_server_close)

#endif

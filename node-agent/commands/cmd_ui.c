/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet ui: shows a record in a browser. The server is ui/, its answers are ui_api.h.
 *
 * Files of a record may come from anybody, as may requests. So a child process reads both, which
 * can do little else. This process removes the file of the socket in the end. */
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "commands/commands.h"
#include "commands/record_query.h"
#include "commands/ui_api.h"
#include "profile/viewer_page.h"
#include "ui/ui_process.h"
#include "ui/ui_server.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define MESSAGE_MAX_BYTES 65536
#define PROFILE_MAX_BYTES ((size_t)256 << 20)

static int explain(const char *what, const struct strbuf *message, int error)
{
	fprintf(stderr, "flamelet: %s\n", message->len > 0 ? strbuf_str(message) : what);
	if (message->len == 0)
		fprintf(stderr, "flamelet: the reason: %s\n", strerror(-error));
	return STATUS_FAILED;
}

/* The server only reads files, of which some may belong to another user. */
static void drop_privileges(const struct options *options, const struct store_reader *reader)
{
	uint64_t needed = 0;

	for (size_t i = 0; i < options->stores.nr; i++)
		needed |= capabilities_for_reading(options->stores.items[i]);
	for (size_t i = 0; i < reader->nr_spans; i++)
		needed |= capabilities_for_reading(reader->spans[i].path);
	int r = capabilities_deny_programs();
	(void)r; /* without CAP_SETPCAP there is nothing to drop */
	r = capabilities_keep(needed);
	if (r < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		fputs("flamelet: could not drop all privileges; continuing with them\n", stderr);
}

static void tell_address(const struct options *options, const struct ui_server *server)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(MESSAGE_MAX_BYTES);
	unsigned int port = ui_server_port(server);
	const char *path = options->ui_listen + strlen("unix:");

	ui_server_append_url(server, &url);
	printf("%s\n", strbuf_str(&url));
	fflush(stdout);
	if (port == 0)
		fprintf(stderr,
			"flamelet: from elsewhere: ssh -L 7070:%s HOST, then open the address with "
			"localhost:7070; Ctrl-C ends it\n",
			path);
	else
		fprintf(stderr,
			"flamelet: from elsewhere: ssh -L %u:127.0.0.1:%u HOST or kubectl "
			"port-forward POD %u, then open the same address; Ctrl-C ends it\n",
			port, port, port);
}

/* The first answer from a file takes longest, as its names have to be read. Failures are reported
 * when the page asks. */
static void prepare(const struct store_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(store_answer_done) struct store_answer answer = { 0 };
	const struct selector all = { 0 };
	uint64_t newest_s = store_reader_newest(reader);
	const struct store_query query = {
		.range = { newest_s, newest_s + 1 },
		.selector = &all,
		.type = PROFILE_CPU,
		.with_labels = true,
		.max_bytes = PROFILE_MAX_BYTES,
	};

	int r = store_reader_merge(reader, &query, &warnings, &answer);
	(void)r;
}

/* Runs in the child. */
static int serve_confined(const struct options *options, const struct store_reader *reader,
			  struct ui_server *server, int stop_fd)
{
	int r = ui_process_confine((const char *const *)options->stores.items, options->stores.nr);

	if (r < 0)
		return explain("cannot confine the server", &(struct strbuf){ 0 }, r);
	tell_address(options, server);
	prepare(reader);
	r = ui_server_run(server, stop_fd);
	return r < 0 ? explain("the server has ended", &(struct strbuf){ 0 }, r) : STATUS_OK;
}

static int explain_end(const struct ui_process_end *end)
{
	if (end->signal == 0)
		return end->status;
	if (end->signal == SIGSYS)
		fputs("flamelet: the server was stopped because it tried a system call that it may "
		      "not make; a file of the record may be crafted to attack it\n",
		      stderr);
	else
		fprintf(stderr, "flamelet: the server was ended by a signal: %s\n",
			strsignal(end->signal));
	return STATUS_FAILED;
}

static int serve(const struct options *options, struct store_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(ui_server_closep) struct ui_server *server = NULL;
	_cleanup_(ui_process_done) struct ui_process process = UI_PROCESS_NONE;
	struct ui_api api = { .options = options, .reader = reader };
	struct ui_process_end end;
	struct ui_server_opts opts = {
		.listen = options->ui_listen,
		.answer = ui_api_answer,
		.data = &api,
	};

	int r = ui_token_make(opts.token);
	if (r == 0)
		r = ui_server_open(&opts, &message, &server);
	if (r < 0)
		return explain("cannot start the server", &message, r);
	drop_privileges(options, reader);
	r = ui_process_start(&process);
	if (r < 0)
		return explain("cannot start the server", &message, r);
	if (process.pid == 0)
		return serve_confined(options, reader, server, process.stop_fd);
	ui_process_wait(&process, &end);
	return explain_end(&end);
}

int cmd_ui(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf messages = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };

	if (!viewer_page_is_built()) {
		fputs("flamelet: this program was built without the page (UI=off); flamelet query, "
		      "timeline and top answer on a terminal\n",
		      stderr);
		return STATUS_FAILED;
	}
	int status = record_query_open(options, &messages, &reader);
	record_query_warn(&messages);
	return status == STATUS_OK ? serve(options, &reader) : status;
}

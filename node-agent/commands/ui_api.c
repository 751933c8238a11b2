/* SPDX-License-Identifier: Apache-2.0 */
/* A request is translated into the arguments of a command, and these are read as those of any
 * command are:
 *
 *	timeline?from=10&to=20&by=pod	timeline --json 10..20 --by=pod
 *
 * Only the values of parameters are the client's; each stands behind the "=" of an option that a
 * table here permits. So no request names a file. */
#include "commands/ui_api.h"

#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/parse.h"
#include "base/strview.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/kind_type.h"
#include "commands/ui_info.h"
#include "config/option_fields.h"
#include "config/option_loader.h"
#include "profile/output.h"
#include "profile/viewer_page.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX_BYTES 65536
#define JSON_TYPE "application/json"
#define NR_FIXED 3

/* What a path stands for. */
struct endpoint {
	const char *path;
	enum command_id command;
	answer_fn answer; /* NULL: the events */
	const char *args[NR_FIXED]; /* NULL: no more */
	const char *range_option; /* before the range; "": it is a word of its own */
	bool has_format; /* the parameter "fmt" is required */
	bool can_compare; /* with the parameters of a base, it is a comparison */
};

static const struct endpoint endpoints[] = {
	{ "timeline", COMMAND_TIMELINE, answer_timeline, { "--json" }, "", false, false },
	{ "flame", COMMAND_QUERY, answer_query, { "-o", "-", "--format=view" }, "", false, true },
	{ "top", COMMAND_TOP, answer_top, { "--once", "--json" }, "--range=", false, false },
	{ "findings", COMMAND_FINDINGS, answer_findings, { "--json" }, "", false, false },
	{ "export", COMMAND_QUERY, answer_query, { "-o", "-" }, "", true, true },
	{ "events", COMMAND_LS, NULL, { "--json" }, "", false, false },
};

/* Parameters that are options of the commands. A command refuses those that it does not have. */
static const struct {
	const char *parameter, *option;
} options_of[] = {
	{ "q", "--select=" },	 { "step", "--step=" },		  { "by", "--by=" },
	{ "max", "--lines=" },	 { "throttled", "--throttled=" }, { "n", "--rows=" },
	{ "group", "--group=" }, { "bottomup", "--bottom-up=" },  { "kernel", "--kernel=" },
	{ "fmt", "--format=" },	 { "base_q", "--against=" },
};

/* A request as a command's arguments and options. */
struct question {
	const struct endpoint *endpoint;
	const struct ui_request *request;
	bool is_comparison;
	struct string_list args;
	struct options options;
};

static void question_done(struct question *question)
{
	options_done(&question->options);
	string_list_done(&question->args);
}

static int refuse(struct answer *answer, const char *text)
{
	strbuf_appendf(&answer->messages, "%s\n", text);
	return STATUS_USAGE;
}

static int add(struct question *question, const char *option, const char *value)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	strbuf_appendf(&text, "%s%s", option, value);
	int r = strbuf_error(&text);
	return r < 0 ? r : string_list_add(&question->args, strbuf_str(&text));
}

/* Adds the range of two parameters, if it is there. */
static int add_range(struct question *question, const char *from_name, const char *to_name)
{
	const char *from = ui_request_get(question->request, from_name);
	const char *to = ui_request_get(question->request, to_name);
	char word[64];
	uint64_t first_s, end_s;

	if (!from && !to)
		return 0;
	if (!from || !to || parse_u64(from, &first_s) < 0 || parse_u64(to, &end_s) < 0)
		return -EINVAL;
	snprintf(word, sizeof(word), "%" PRIu64 "..%" PRIu64, first_s, end_s);
	return add(question, question->endpoint->range_option, word);
}

static bool is_time(const char *name)
{
	return strcmp(name, "from") == 0 || strcmp(name, "to") == 0 ||
	       strcmp(name, "base_from") == 0 || strcmp(name, "base_to") == 0;
}

/* The type that questions have by themselves is never added. */
static int add_type(struct question *question, const char *word, struct answer *answer)
{
	enum profile_type type = profile_type_from_word(word);
	const char *kind;

	if (type == PROFILE_NR_TYPES)
		return refuse(answer, "type: there is no such type of samples");
	if (type == PROFILE_CPU)
		return STATUS_OK;
	kind = kind_type_word(type);
	if (!kind) {
		strbuf_append_str(&answer->messages, "the record has no samples of this type\n");
		return STATUS_NO_SAMPLES;
	}
	int r = add(question, "--kind=", kind);
	return r < 0 ? answer_fail(answer, "type", r) : STATUS_OK;
}

static int add_parameter(struct question *question, const struct ui_parameter *parameter,
			 struct answer *answer)
{
	if (is_time(parameter->name))
		return STATUS_OK;
	if (strcmp(parameter->name, "type") == 0)
		return add_type(question, parameter->value, answer);
	bool is_known = strcmp(parameter->name, "fmt") != 0 || question->endpoint->has_format;
	for (size_t i = 0; is_known && i < array_len(options_of); i++) {
		if (strcmp(options_of[i].parameter, parameter->name) != 0)
			continue;
		int r = add(question, options_of[i].option, parameter->value);
		return r < 0 ? answer_fail(answer, parameter->name, r) : STATUS_OK;
	}
	strbuf_appendf(&answer->messages, "%s: there is no such parameter\n", parameter->name);
	return STATUS_USAGE;
}

static int add_parameters(struct question *question, struct answer *answer)
{
	const struct ui_request *request = question->request;
	int status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < request->nr_parameters; i++)
		status = add_parameter(question, &request->parameters[i], answer);
	return status;
}

static int add_all(struct question *question, struct answer *answer)
{
	const struct endpoint *endpoint = question->endpoint;
	int r = 0;

	for (size_t i = 0; r == 0 && i < NR_FIXED && endpoint->args[i]; i++)
		r = add(question, "", endpoint->args[i]);
	if (r == 0 && question->is_comparison)
		r = add_range(question, "base_from", "base_to");
	if (r == 0)
		r = add_range(question, "from", "to");
	if (r == -EINVAL)
		return refuse(answer, "from and to are needed together, in seconds since 1970");
	return r < 0 ? answer_fail(answer, "cannot read the request", r)
		     : add_parameters(question, answer);
}

static int load(struct question *question, struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(TEXT_MAX_BYTES);
	const struct options_input input = {
		.command = question->is_comparison ? COMMAND_DIFF : question->endpoint->command,
		.args = question->args.items,
		.nr_args = question->args.nr,
		.format_from_name = output_format_from_name,
		.output_extensions = output_extensions(),
	};

	int r = options_load(&input, &question->options, &message);
	if (r == 0)
		return STATUS_OK;
	strbuf_appendf(&answer->messages, "%s\n",
		       message.len > 0 ? strbuf_str(&message) : strerror(-r));
	return r == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
}

static int read_question(struct question *question, struct answer *answer)
{
	const struct ui_request *request = question->request;
	bool has_base = ui_request_get(request, "base_from") || ui_request_get(request, "base_to");

	if (has_base && !question->endpoint->can_compare)
		return refuse(answer, "base_from: this cannot be compared");
	if (has_base && !ui_request_get(request, "from"))
		return refuse(answer, "from: a comparison needs two ranges");
	if (question->endpoint->has_format && !ui_request_get(request, "fmt"))
		return refuse(answer, "fmt: name the format of the file");
	question->is_comparison = has_base;
	int status = add_all(question, answer);
	return status == STATUS_OK ? load(question, answer) : status;
}

static int ask(const struct ui_api *api, const struct question *question, struct answer *answer)
{
	const struct options *options = &question->options;

	if (question->is_comparison)
		return answer_diff(options, api->reader, answer);
	if (question->endpoint->answer)
		return question->endpoint->answer(options, api->reader, answer);
	return ui_info_append_events(api->options, options, api->reader, answer);
}

/* The reply. */

/* Appends the messages as one line. */
static void join(const struct strbuf *messages, struct strbuf *text)
{
	struct strview rest = strview_of(strbuf_str(messages), SIZE_MAX), line;

	while (strview_next(&rest, '\n', &line))
		if (line.len > 0)
			strbuf_appendf(text, "%s%.*s", text->len > 0 ? "; " : "", (int)line.len,
				       line.text);
}

/* A header takes ASCII only. */
static void set_warnings(struct ui_reply *reply, const struct strbuf *messages)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	join(messages, &text);
	snprintf(reply->warnings, sizeof(reply->warnings), "%s", strbuf_str(&text));
	for (char *c = reply->warnings; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

static void set_error(struct ui_reply *reply, int status, const struct strbuf *messages)
{
	static const unsigned int statuses[] = {
		[STATUS_FAILED] = 500,
		[STATUS_USAGE] = 400,
		[STATUS_NO_SAMPLES] = 404,
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	join(messages, &text);
	strbuf_append_char(&reply->body, '{');
	json_append_member(&reply->body, "error", strbuf_str(&text));
	strbuf_append_str(&reply->body, status == STATUS_NO_SAMPLES ? ",\"empty\":true}\n" : "}\n");
	reply->status = statuses[status];
	reply->content_type = JSON_TYPE;
}

static const char *type_of(enum output_format format)
{
	static const char *const types[] = {
		[OUTPUT_FOLDED] = "text/plain; charset=utf-8",
		[OUTPUT_PPROF] = "application/octet-stream",
		[OUTPUT_SVG] = "image/svg+xml",
		[OUTPUT_HTML] = "text/html; charset=utf-8",
		[OUTPUT_SPEEDSCOPE] = JSON_TYPE,
		[OUTPUT_FIREFOX] = JSON_TYPE,
		[OUTPUT_JSON] = JSON_TYPE,
		[OUTPUT_CSV] = "text/csv; charset=utf-8",
		[OUTPUT_VIEW] = JSON_TYPE,
	};

	return types[format];
}

/* Names a file of a range "flamelet-HOST-20261121T093015Z.svg". Of a host's name, which a file of a
 * record may have from anywhere, only harmless characters are used. */
static void name_file(const struct ui_api *api, const struct question *question,
		      enum output_format format, char name[static UI_FILE_NAME_BYTES])
{
	const char *from = ui_request_get(question->request, "from");
	const char *host = api->reader->nr_spans > 0 ? api->reader->spans[0].host : "";
	char when[32] = "", safe[65] = "";
	uint64_t first_s = 0;
	struct tm utc = { 0 };

	if (!from || parse_u64(from, &first_s) < 0)
		first_s = store_reader_newest(api->reader);
	time_t time = (time_t)first_s;
	if (gmtime_r(&time, &utc))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	for (size_t i = 0; host[i] && i < sizeof(safe) - 1; i++) {
		bool is_harmless = isalnum((unsigned char)host[i]) || strchr(".-_", host[i]);

		safe[i] = '_';
		if (is_harmless)
			safe[i] = host[i];
	}
	snprintf(name, UI_FILE_NAME_BYTES, "flamelet-%s-%s%s", safe, when,
		 output_extension_of(format));
}

static void set_export(const struct ui_api *api, const struct question *question,
		       struct ui_reply *reply)
{
	enum output_format format;

	if (output_format_of("-", question->options.output_format, &format) < 0)
		return;
	reply->content_type = type_of(format);
	reply->is_packed = format == OUTPUT_PPROF;
	name_file(api, question, format, reply->file_name);
}

static void take_body(struct ui_reply *reply, struct answer *answer)
{
	strbuf_done(&reply->body);
	reply->body = answer->body;
	answer->body = (struct strbuf){ 0 };
	reply->status = 200;
	reply->content_type = JSON_TYPE;
}

static void answer_endpoint(const struct ui_api *api, const struct endpoint *endpoint,
			    const struct ui_request *request, struct answer *answer,
			    struct ui_reply *reply)
{
	_cleanup_(question_done) struct question question = {
		.endpoint = endpoint,
		.request = request,
	};

	int status = read_question(&question, answer);
	if (status == STATUS_OK)
		status = ask(api, &question, answer);
	if (status != STATUS_OK) {
		set_error(reply, status, &answer->messages);
		return;
	}
	take_body(reply, answer);
	if (endpoint->answer)
		set_warnings(reply, &answer->messages);
	if (endpoint->has_format)
		set_export(api, &question, reply);
}

static void answer_api(struct ui_api *api, const char *path, const struct ui_request *request,
		       struct ui_reply *reply)
{
	_cleanup_(answer_done) struct answer answer = answer_empty();
	const struct options *options = api->options;

	int r = store_reader_refresh(api->reader, (const char *const *)options->stores.items,
				     options->stores.nr, &answer.messages);
	if (r < 0) {
		set_error(reply, answer_fail(&answer, "cannot read the record", r),
			  &answer.messages);
		return;
	}
	if (strcmp(path, "info") == 0) {
		ui_info_append(api->reader, &answer);
		take_body(reply, &answer);
		return;
	}
	for (size_t i = 0; i < array_len(endpoints); i++) {
		if (strcmp(path, endpoints[i].path) == 0) {
			answer_endpoint(api, &endpoints[i], request, &answer, reply);
			return;
		}
	}
	strbuf_append_str(&reply->body, "{\"error\":\"no such page\"}\n");
	reply->status = 404;
	reply->content_type = JSON_TYPE;
}

void ui_api_answer(const struct ui_request *request, struct ui_reply *reply, void *data)
{
	struct ui_api *api = data;
	const char *path = request->path;

	reply->status = 200;
	if (strcmp(path, "") == 0) {
		viewer_page_append_live(UI_API_PATH, &reply->body);
		reply->content_type = "text/html; charset=utf-8";
	} else if (strcmp(path, "viewer.js") == 0) {
		viewer_page_append_script(&reply->body);
		reply->content_type = "text/javascript; charset=utf-8";
	} else if (strcmp(path, "viewer.css") == 0) {
		viewer_page_append_style(&reply->body);
		reply->content_type = "text/css; charset=utf-8";
	} else {
		bool is_api = strncmp(path, UI_API_PATH, strlen(UI_API_PATH)) == 0;

		answer_api(api, is_api ? path + strlen(UI_API_PATH) : "", request, reply);
	}
}

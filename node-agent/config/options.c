/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct options. The sources are read from the strongest to the weakest: command line, file,
 * environment, cluster, defaults. An option belongs to the first source that sets it; what weaker ones say
 * of it is passed over. A list that the file gives is thus replaced, not extended, by the command line. */
#include "config/options.h"

#include "base/cleanup.h"
#include "config/config_file.h"
#include "config/environment.h"
#include "config/option_list.h"
#include "config/option_table.h"

#include <stdlib.h>
#include <string.h>

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define KUBELET_PORT 10250
#define TEXT_MAX_BYTES 4096

enum source {
	SOURCE_NONE,
	SOURCE_COMMAND_LINE,
	SOURCE_FILE,
	SOURCE_ENVIRONMENT,
	SOURCE_CLUSTER,
	SOURCE_DEFAULT,
};

struct loader {
	const struct options_input *input;
	struct options *options;
	enum source owners[OPTION_ROWS_MAX]; /* of the table's rows */
	struct strbuf *message;
};

static void *field_of(struct options *options, const struct option *option)
{
	return (char *)options + option->field;
}

/* Explains why value_store() refused; `where` is the option or line as the user knows it. */
static int explain(struct loader *loader, const struct option *option, const char *where,
		   const char *text, int error)
{
	const struct value_type *type = option->type;

	if (error == -ENOMEM)
		return error;
	if (error == -ENOSPC)
		strbuf_appendf(loader->message, "%s: too many values; at most %d", where,
			       LIST_ITEMS_MAX);
	else if (error != -EINVAL && error != -ERANGE)
		strbuf_appendf(loader->message, "%s: cannot read \"%s\": %s; write %s", where, text,
			       strerror(-error), type->hint);
	else if (type->is_secret)
		strbuf_appendf(loader->message, "%s: the value is not %s; write %s", where,
			       type->noun, type->hint);
	else
		strbuf_appendf(loader->message, "%s: \"%s\" is not %s; write %s", where, text,
			       type->noun, type->hint);
	return -EINVAL;
}

static int check_output(struct loader *loader, const char *where, const char *text)
{
	const struct options_input *input = loader->input;

	if (!input->is_output || input->is_output(text))
		return 0;
	strbuf_appendf(loader->message,
		       "%s: \"%s\" has no known extension; write a name that ends in %s", where,
		       text, input->output_extensions);
	return -EINVAL;
}

static int set_option(struct loader *loader, const struct option *option, enum source source,
		      const char *where, const char *text)
{
	enum source *owner = &loader->owners[option - option_table];

	if (*owner != SOURCE_NONE && *owner != source)
		return 0;
	if (*owner == SOURCE_FILE && !value_is_list(option->type)) {
		strbuf_appendf(loader->message, "%s: takes one value, not a list", where);
		return -EINVAL;
	}

	int r = value_store(option->type, text, field_of(loader->options, option));
	if (r < 0)
		return explain(loader, option, where, text, r);
	*owner = source;
	return option->type == &value_output ? check_output(loader, where, text) : 0;
}

/* Says what the user may have meant by a word that is no option of this command. */
static int refuse_unknown(struct loader *loader, const char *word)
{
	enum command_id command = loader->input->command;
	const struct option *elsewhere = option_find(word, strlen(word), ~0u);

	if (elsewhere)
		strbuf_appendf(loader->message,
			       "--%s is an option of %s, not of %s; see flamelet %s --help", word,
			       command_name(elsewhere->commands), command_name(command),
			       command_name(command));
	else
		strbuf_appendf(loader->message,
			       "unknown option --%s; did you mean --%s? See flamelet %s --help",
			       word, option_nearest(word, command, false), command_name(command));
	return -EINVAL;
}

/* The command line's arguments, one after the other. */
struct cursor {
	char *const *args;
	size_t nr;
	size_t pos;
};

/* Sets an option from its own text ("--x=text", "-xtext") or, when that is NULL, the next argument. */
static int set_with_argument(struct loader *loader, const struct option *option, const char *where,
			     const char *text, struct cursor *cursor)
{
	if (!text && option->type->storage == STORE_FLAG)
		text = "true";
	if (!text) {
		if (cursor->pos + 1 >= cursor->nr) {
			strbuf_appendf(loader->message, "%s: a value is missing; write %s", where,
				       option->type->hint);
			return -EINVAL;
		}
		text = cursor->args[++cursor->pos];
	}
	return set_option(loader, option, SOURCE_COMMAND_LINE, where, text);
}

static int read_long_option(struct loader *loader, struct cursor *cursor)
{
	const char *name = cursor->args[cursor->pos] + 2;
	size_t len = strcspn(name, "=");
	const struct option *option = option_find(name, len, loader->input->command);
	_cleanup_free_ char *word = strndup(name, len);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(TEXT_MAX_BYTES);

	if (!word)
		return -ENOMEM;
	if (!option)
		return refuse_unknown(loader, word);
	strbuf_appendf(&where, "--%s", word);
	return set_with_argument(loader, option, strbuf_str(&where),
				 name[len] == '=' ? name + len + 1 : NULL, cursor);
}

/* "-d10s", "-d 10s", and flags in one word: "-qI". */
static int read_short_options(struct loader *loader, struct cursor *cursor)
{
	for (const char *c = cursor->args[cursor->pos] + 1; *c; c++) {
		const struct option *option = option_find_letter(*c, loader->input->command);
		const char where[] = { '-', *c, '\0' };

		if (!option) {
			strbuf_appendf(loader->message,
				       "unknown option -%c; see flamelet %s --help", *c,
				       command_name(loader->input->command));
			return -EINVAL;
		}
		if (option->type->storage != STORE_FLAG)
			return set_with_argument(loader, option, where, c[1] ? c + 1 : NULL,
						 cursor);
		int r = set_option(loader, option, SOURCE_COMMAND_LINE, where, "true");
		if (r < 0)
			return r;
	}
	return 0;
}

/* What stands behind "--": a program to run and profile. */
static int read_command(struct loader *loader, const struct cursor *cursor)
{
	if (loader->input->command != COMMAND_RECORD) {
		strbuf_appendf(loader->message, "--: only record runs a command");
		return -EINVAL;
	}
	if (cursor->pos + 1 == cursor->nr) {
		strbuf_appendf(loader->message, "--: a command is missing; write -- make -j4");
		return -EINVAL;
	}
	for (size_t i = cursor->pos + 1; i < cursor->nr; i++) {
		int r = string_list_add(&loader->options->command, cursor->args[i]);
		if (r == -ENOSPC)
			strbuf_appendf(loader->message, "--: too many arguments");
		if (r < 0)
			return r == -ENOSPC ? -EINVAL : r;
	}
	return 0;
}

static int refuse_word(struct loader *loader, const char *word)
{
	strbuf_appendf(loader->message, "unexpected \"%s\"; ", word);
	if (loader->input->command == COMMAND_RECORD)
		strbuf_appendf(loader->message, "a command to run stands behind --: -- %s", word);
	else
		strbuf_appendf(loader->message, "see flamelet %s --help",
			       command_name(loader->input->command));
	return -EINVAL;
}

static int read_command_line(struct loader *loader)
{
	struct cursor cursor = { loader->input->args, loader->input->nr_args, 0 };

	for (; cursor.pos < cursor.nr; cursor.pos++) {
		const char *arg = cursor.args[cursor.pos];
		int r;

		if (strcmp(arg, "--") == 0)
			return read_command(loader, &cursor);
		if (strncmp(arg, "--", 2) == 0)
			r = read_long_option(loader, &cursor);
		else if (arg[0] == '-' && arg[1])
			r = read_short_options(loader, &cursor);
		else
			r = refuse_word(loader, arg);
		if (r < 0)
			return r;
	}
	return 0;
}

static int refuse_key(struct loader *loader, const char *where, bool is_known)
{
	enum command_id command = loader->input->command;

	if (is_known)
		strbuf_appendf(loader->message, "%s is not for flamelet %s; remove the line", where,
			       command_name(command));
	else
		strbuf_appendf(loader->message, "%s is not an option", where);
	return -EINVAL;
}

static int read_entry(struct loader *loader, const struct config_entry *entry)
{
	enum command_id command = loader->input->command;
	size_t len = strlen(entry->key);
	const struct option *option = option_find(entry->key, len, command);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(TEXT_MAX_BYTES);

	strbuf_appendf(&where, "%s:%zu: %s", loader->options->config_file, entry->line, entry->key);
	if (option && !option->not_in_file)
		return set_option(loader, option, SOURCE_FILE, strbuf_str(&where), entry->value);
	if (option_find(entry->key, len, COMMAND_AGENT) && !option)
		return 0; /* the file is the agent's: doctor and record take their part of it */
	if (option || option_find(entry->key, len, ~0u))
		return refuse_key(loader, strbuf_str(&where), true);
	refuse_key(loader, strbuf_str(&where), false);
	strbuf_appendf(loader->message, "; did you mean %s?",
		       option_nearest(entry->key, command, true));
	return -EINVAL;
}

static int read_file(struct loader *loader)
{
	_cleanup_(config_file_done) struct config_file file = { 0 };

	if (!loader->options->config_file)
		return 0;

	int r = config_file_load(loader->options->config_file, &file, loader->message);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	for (size_t i = 0; i < file.nr_entries; i++) {
		r = read_entry(loader, &file.entries[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_variable(struct loader *loader, const struct option *option, const char *variable)
{
	_cleanup_(string_list_done) struct string_list values = { 0 };

	int r = env_translate(option->env_format, getenv(variable), &values);
	if (r == -EINVAL)
		strbuf_appendf(loader->message, "%s: write %s", variable,
			       option->env_format == ENV_HEADERS ? "name=value,name=value"
								 : "milliseconds");
	for (size_t i = 0; r == 0 && i < values.nr; i++)
		r = set_option(loader, option, SOURCE_ENVIRONMENT, variable, values.items[i]);
	return r == -ENOSPC ? explain(loader, option, variable, "", r) : r;
}

static int read_environment(struct loader *loader)
{
	struct options *options = loader->options;

	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];
		const char *variable = env_variable_of(option);

		if (!variable || !(option->commands & loader->input->command) ||
		    loader->owners[i] != SOURCE_NONE)
			continue;
		int r = read_variable(loader, option, variable);
		if (r < 0)
			return r;
		/* OpenTelemetry's signal-specific variable is the whole URL. */
		if (option->field == offsetof(struct options, otlp_endpoint))
			options->otlp_endpoint_is_full = variable == option->env[0];
	}
	return 0;
}

static int set_in_cluster(struct loader *loader, const char *name, const char *text)
{
	const struct option *option = option_find(name, strlen(name), loader->input->command);

	return option ? set_option(loader, option, SOURCE_CLUSTER, name, text) : 0;
}

/* A file that each pod has, unless its service account's token is not mounted. */
static int set_account_file(struct loader *loader, const char *name, const char *file)
{
	const char *dir = loader->input->service_account_dir;
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(TEXT_MAX_BYTES);

	strbuf_appendf(&path, "%s/%s", dir ? dir : SERVICE_ACCOUNT_DIR, file);
	if (access(strbuf_str(&path), R_OK) < 0)
		return 0;
	return set_in_cluster(loader, name, strbuf_str(&path));
}

/* In a pod the kubelet is at the host's address, which the pod's manifest passes on. */
static int read_cluster(struct loader *loader)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(TEXT_MAX_BYTES);
	const char *cluster = getenv("KUBERNETES_SERVICE_HOST");
	const char *host = getenv("HOST_IP");

	if (!cluster || !*cluster)
		return 0;
	if (!host || !*host)
		host = getenv("NODE_IP");
	if (host && *host) {
		strbuf_appendf(&url, strchr(host, ':') ? "https://[%s]:%d" : "https://%s:%d", host,
			       KUBELET_PORT);
		int r = set_in_cluster(loader, "kubelet-url", strbuf_str(&url));
		if (r < 0)
			return r;
	}

	int r = set_account_file(loader, "kubelet-ca-file", "ca.crt");
	if (r < 0)
		return r;
	return set_account_file(loader, "kubelet-token-file", "token");
}

static int read_defaults(struct loader *loader)
{
	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!option->fallback || !(option->commands & loader->input->command))
			continue;
		if (option->field == offsetof(struct options, duration_ns) &&
		    loader->options->command.nr > 0)
			continue; /* until the command ends */
		int r = set_option(loader, option, SOURCE_DEFAULT, option->name, option->fallback);
		if (r < 0)
			return r;
	}
	return 0;
}

int options_load(const struct options_input *input, struct options *ret_options,
		 struct strbuf *message)
{
	static int (*const steps[])(struct loader *) = { read_command_line, read_file,
							 read_environment, read_cluster,
							 read_defaults };
	_cleanup_(options_done) struct options options = { .input = *input };
	struct loader loader = { .input = input, .options = &options, .message = message };

	for (size_t i = 0; i < array_len(steps); i++) {
		int r = steps[i](&loader);
		if (r < 0)
			return r;
		if (options.help || options.help_all)
			break;
	}
	*ret_options = options;
	options = (struct options){ 0 };
	return 0;
}

void options_diff(const struct options *before, const struct options *after, bool is_reloadable,
		  struct strbuf *names)
{
	size_t start = names->len;

	for (size_t i = 0; i < nr_option_rows; i++) {
		const struct option *option = &option_table[i];

		if (!(option->commands & after->input.command) ||
		    option->is_reloadable != is_reloadable ||
		    value_equals(option->type, (const char *)before + option->field,
				 (const char *)after + option->field, option->field_bytes))
			continue;
		strbuf_appendf(names, "%s--%s", names->len > start ? ", " : "", option->name);
	}
}

void options_done(struct options *options)
{
	for (size_t i = 0; i < nr_option_rows; i++)
		value_clear(option_table[i].type, field_of(options, &option_table[i]));
	string_list_done(&options->command);
}

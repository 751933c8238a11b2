/* SPDX-License-Identifier: Apache-2.0 */
#include "options_fixture.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "config/option_loader.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS_MAX 32

char temp_dir[] = "/tmp/flamelet-options-XXXXXX";
char config_path[64];

static const char *const variables[] = {
	"OTEL_EXPORTER_OTLP_ENDPOINT",
	"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT",
	"OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_EXPORTER_OTLP_PROFILES_HEADERS",
	"OTEL_EXPORTER_OTLP_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_PROFILES_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_TIMEOUT",
	"OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT",
	"OTEL_EXPORTER_OTLP_PROTOCOL",
	"OTEL_EXPORTER_OTLP_PROFILES_PROTOCOL",
	"OTEL_EXPORTER_OTLP_COMPRESSION",
	"OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION",
	"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_PROFILES_CLIENT_CERTIFICATE",
	"OTEL_EXPORTER_OTLP_CLIENT_KEY",
	"OTEL_EXPORTER_OTLP_PROFILES_CLIENT_KEY",
	"OTEL_EXPORTER_OTLP_INSECURE",
	"OTEL_EXPORTER_OTLP_PROFILES_INSECURE",
	"OTEL_RESOURCE_ATTRIBUTES",
	"OTEL_SERVICE_NAME",
	"NODE_NAME",
	"KUBERNETES_SERVICE_HOST",
	"HOST_IP",
	"NODE_IP",
};

int start_clean(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(variables); i++)
		unsetenv(variables[i]);
	return 0;
}

int make_temp_dir(void **state)
{
	(void)state;
	if (!mkdtemp(temp_dir))
		return -1;
	snprintf(config_path, sizeof(config_path), "%s/f.yaml", temp_dir);
	return 0;
}

int remove_temp_dir(void **state)
{
	(void)state;
	unlink(config_path);
	return rmdir(temp_dir);
}

static const char *format_from_name(const char *path)
{
	size_t len = strlen(path);

	if (strcmp(path, "-") == 0)
		return "";
	return len > 4 && strcmp(path + len - 4, ".svg") == 0 ? "svg" : NULL;
}

/* Loads from words separated by blanks; "@" stands for the configuration file's path. */
static int load(enum command_id command, const char *words, struct options *ret_options,
		struct strbuf *message)
{
	_cleanup_free_ char *copy = strdup(words);
	char *args[ARGS_MAX];
	size_t nr_args = 0;
	char *rest = copy;

	for (char *word; (word = strsep(&rest, " "));) {
		if (*word && nr_args < ARGS_MAX)
			args[nr_args++] = strcmp(word, "@") == 0 ? config_path : word;
	}

	const struct options_input input = {
		.command = command,
		.args = args,
		.nr_args = nr_args,
		.service_account_dir = temp_dir,
		.format_from_name = format_from_name,
		.output_extensions = ".svg",
	};
	return options_load(&input, ret_options, message);
}

struct options load_ok(enum command_id command, const char *words)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4000);
	struct options options = { 0 };

	int r = load(command, words, &options, &message);
	assert_string_equal(strbuf_str(&message), "");
	assert_int_equal(r, 0);
	return options;
}

void expect_refused(enum command_id command, const char *words, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4000);
	struct options options = { 0 };

	assert_int_equal(load(command, words, &options, &message), -EINVAL);
	assert_string_equal(strbuf_str(&message), expected);
}

void write_config(const char *text)
{
	assert_int_equal(file_write_atomic(config_path, text, strlen(text)), 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod_environment.h"

#include "base/clock.h"
#include "base/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VARIABLE_MAX_BYTES ((size_t)1 << 16)

/* After a failure, the library would retry at once, and report a second failure as "no such file".
 * The agent retries later instead. */
#define RETRY_LIMIT "0"

static const char *const passed_on[] = {
	"http_proxy", "https_proxy", "HTTPS_PROXY",   "all_proxy",    "ALL_PROXY",
	"no_proxy",   "NO_PROXY",    "SSL_CERT_FILE", "SSL_CERT_DIR", "DEBUGINFOD_HEADERS_FILE",
};

static int add_text(struct debuginfod_environment *environment, const char *name, const char *value)
{
	struct strbuf text = strbuf_with_max(VARIABLE_MAX_BYTES);

	strbuf_appendf(&text, "%s=%s", name, value);
	int r = strbuf_error(&text);
	if (r < 0) {
		strbuf_done(&text);
		return r;
	}
	environment->variables[environment->nr_variables++] = text.data;
	return 0;
}

static int add_number(struct debuginfod_environment *environment, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return add_text(environment, name, text);
}

/* The library parses a long, and 0 means no limit. */
static uint64_t long_of(uint64_t value)
{
	if (value == 0)
		return 1;
	return value < INT64_MAX ? value : INT64_MAX;
}

static int add_all(struct debuginfod_environment *environment,
		   const struct debuginfod_settings *settings)
{
	uint64_t seconds = (settings->timeout_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
	const struct {
		const char *name;
		const char *text;
		uint64_t number; /* if there is no text */
	} variables[] = {
		{ "DEBUGINFOD_URLS", settings->urls, 0 },
		{ "DEBUGINFOD_CACHE_PATH", settings->cache_dir, 0 },
		{ "HOME", settings->cache_dir, 0 },
		{ "DEBUGINFOD_RETRY_LIMIT", RETRY_LIMIT, 0 },
		{ "DEBUGINFOD_MAXSIZE", NULL, long_of(settings->max_file_bytes) },
		{ "DEBUGINFOD_MAXTIME", NULL, long_of(seconds) },
		{ "DEBUGINFOD_TIMEOUT", NULL, long_of(seconds) },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < array_len(variables); i++)
		r = variables[i].text
			    ? add_text(environment, variables[i].name, variables[i].text)
			    : add_number(environment, variables[i].name, variables[i].number);
	for (size_t i = 0; r == 0 && i < array_len(passed_on); i++) {
		const char *value = getenv(passed_on[i]);

		if (value)
			r = add_text(environment, passed_on[i], value);
	}
	return r;
}

int debuginfod_environment_init(struct debuginfod_environment *environment,
				const struct debuginfod_settings *settings)
{
	*environment = (struct debuginfod_environment){ 0 };

	int r = add_all(environment, settings);
	if (r < 0)
		debuginfod_environment_done(environment);
	return r;
}

void debuginfod_environment_done(struct debuginfod_environment *environment)
{
	for (size_t i = 0; i < environment->nr_variables; i++)
		free(environment->variables[i]);
	*environment = (struct debuginfod_environment){ 0 };
}

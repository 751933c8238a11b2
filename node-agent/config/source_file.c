/* SPDX-License-Identifier: Apache-2.0 */
/* The file, the environment and the cluster. */
#include "base/cleanup.h"
#include "config/config_file.h"
#include "config/environment.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define KUBELET_PORT 10250

/* Refuses a key that is an option, but not here. */
static int refuse_place(struct loader *loader, const char *where, bool is_destination)
{
	if (is_destination)
		strbuf_appendf(loader->message, "%s is no option of a destination; remove the line",
			       where);
	else
		strbuf_appendf(loader->message, "%s is not for flamelet %s; remove the line", where,
			       command_name(loader->input->command));
	return -EINVAL;
}

static int refuse_key(struct loader *loader, const char *where, const char *key)
{
	strbuf_appendf(loader->message, "%s is not an option; did you mean %s?", where,
		       option_nearest(key, loader->input->command | COMMAND_AGENT, true));
	return -EINVAL;
}

static int read_entry(struct loader *loader, const char *path, const struct config_entry *entry,
		      bool is_destination)
{
	size_t len = strlen(entry->key);
	const struct option *option = option_find(entry->key, len, loader->input->command);
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(OPTION_TEXT_MAX_BYTES);

	strbuf_appendf(&where, "%s:%zu: %s", path, entry->line, entry->key);
	if (option && !option->not_in_file && (!is_destination || option_is_of_destination(option)))
		return loader_set(loader, option, SOURCE_FILE, strbuf_str(&where), entry->value);
	if (!option && option_find(entry->key, len, COMMAND_AGENT))
		return 0; /* the file is the agent's: other commands take their part of it */
	if (option || option_find(entry->key, len, ~0u))
		return refuse_place(loader, strbuf_str(&where), is_destination);
	return refuse_key(loader, strbuf_str(&where), entry->key);
}

int loader_read_entries(struct loader *loader, const char *path, bool is_destination)
{
	_cleanup_(config_file_done) struct config_file file = { 0 };

	int r = config_file_load(path, &file, loader->message);
	if (r < 0)
		return r == -ENOMEM ? r : -EINVAL;
	for (size_t i = 0; i < file.nr_entries; i++) {
		r = read_entry(loader, path, &file.entries[i], is_destination);
		if (r < 0)
			return r;
	}
	return 0;
}

int loader_read_file(struct loader *loader)
{
	const char *path = loader->options->config_file;

	return path ? loader_read_entries(loader, path, false) : 0;
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
		r = loader_set(loader, option, SOURCE_ENVIRONMENT, variable, values.items[i]);
	return r == -ENOSPC ? loader_explain(loader, option, variable, "", r) : r;
}

int loader_read_environment(struct loader *loader)
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
		if (option->field == offsetof(struct options, export.endpoint))
			options->export.endpoint_is_full = variable == option->env[0];
	}
	return 0;
}

bool loader_wants_plain(struct loader *loader)
{
	static const char *const variables[] = { "OTEL_EXPORTER_OTLP_PROFILES_INSECURE",
						 "OTEL_EXPORTER_OTLP_INSECURE" };
	const char *variable = env_first_set(variables, array_len(variables));
	const char *text = variable ? getenv(variable) : NULL;

	if (!text)
		return false;
	if (strcasecmp(text, "true") == 0)
		return true;
	if (strcasecmp(text, "false") != 0)
		loader_warn(loader, "%s is taken as false: write true or false", variable);
	return false;
}

static int set_in_cluster(struct loader *loader, const char *name, const char *text)
{
	const struct option *option = option_find(name, strlen(name), loader->input->command);

	return option ? loader_set(loader, option, SOURCE_CLUSTER, name, text) : 0;
}

/* A file that each pod has, unless its service account's token is not mounted. */
static int set_account_file(struct loader *loader, const char *name, const char *file)
{
	const char *dir = loader->input->service_account_dir;
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(OPTION_TEXT_MAX_BYTES);

	strbuf_appendf(&path, "%s/%s", dir ? dir : SERVICE_ACCOUNT_DIR, file);
	if (access(strbuf_str(&path), R_OK) < 0)
		return 0;
	return set_in_cluster(loader, name, strbuf_str(&path));
}

/* In a pod the kubelet is at the host's address, which the pod's manifest passes on. */
int loader_read_cluster(struct loader *loader)
{
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(OPTION_TEXT_MAX_BYTES);
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

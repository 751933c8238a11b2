/* SPDX-License-Identifier: Apache-2.0 */
/* The file, the environment and the cluster. */
#include "base/cleanup.h"
#include "config/config_file.h"
#include "config/environment.h"
#include "config/option_list.h"
#include "config/option_loader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERVICE_ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"
#define KUBELET_PORT 10250

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
	_cleanup_(strbuf_done) struct strbuf where = strbuf_with_max(OPTION_TEXT_MAX_BYTES);

	strbuf_appendf(&where, "%s:%zu: %s", loader->options->config_file, entry->line, entry->key);
	if (option && !option->not_in_file)
		return loader_set(loader, option, SOURCE_FILE, strbuf_str(&where), entry->value);
	if (option_find(entry->key, len, COMMAND_AGENT) && !option)
		return 0; /* the file is the agent's: doctor and record take their part of it */
	if (option || option_find(entry->key, len, ~0u))
		return refuse_key(loader, strbuf_str(&where), true);
	refuse_key(loader, strbuf_str(&where), false);
	strbuf_appendf(loader->message, "; did you mean %s?",
		       option_nearest(entry->key, command, true));
	return -EINVAL;
}

int loader_read_file(struct loader *loader)
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

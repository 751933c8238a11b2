/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/record_target.h"

#include "agent/target.h"
#include "base/cleanup.h"
#include "base/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES 12
#define MATCHERS_MAX_BYTES 65536
#define CONTAINER_ID_MIN 12 /* digits; a shorter word is a name */

static int add_numbers(struct selector *selector, const char *key, const struct number_list *list)
{
	_cleanup_(string_list_done) struct string_list texts = { 0 };
	char text[NUMBER_BYTES];
	int r = 0;

	for (size_t i = 0; r == 0 && i < list->nr; i++) {
		snprintf(text, sizeof(text), "%" PRIu32, list->items[i]);
		r = string_list_add(&texts, text);
	}
	return r < 0 ? r : selector_add_values(selector, key, texts.items, texts.nr);
}

static int add_list(struct selector *selector, const char *key, const struct string_list *list)
{
	return selector_add_values(selector, key, list->items, list->nr);
}

static bool is_container_id(const char *text)
{
	return strlen(text) >= CONTAINER_ID_MIN && hex_is(text, strlen(text));
}

/* Containers are selected by name or by the beginning of their id. */
static int add_containers(struct selector *selector, const struct string_list *containers,
			  struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MATCHERS_MAX_BYTES);
	size_t nr_ids = 0;

	for (size_t i = 0; i < containers->nr; i++)
		nr_ids += is_container_id(containers->items[i]);
	if (nr_ids == 0)
		return add_list(selector, "container", containers);
	if (nr_ids < containers->nr) {
		strbuf_append_str(message, "--container: names and IDs cannot be mixed here");
		return -EINVAL;
	}
	for (size_t i = 0; i < containers->nr; i++)
		strbuf_appendf(&text, "%s%s.*", i > 0 ? "|" : "container.id=~\"",
			       containers->items[i]);
	strbuf_append_char(&text, '"');
	return strbuf_error(&text) < 0 ? strbuf_error(&text)
				       : selector_add(selector, strbuf_str(&text), message);
}

static int add_cgroups(struct selector *selector, const struct options *options,
		       struct strbuf *message)
{
	_cleanup_(string_list_done) struct string_list ids = { 0 };

	if (options->cgroups.nr == 0)
		return 0;
	int r = target_find_cgroups(options, message, &ids);
	return r < 0 ? r : add_list(selector, "cgroup", &ids);
}

static int add_pod_labels(struct selector *selector, const struct options *options,
			  struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf matchers = strbuf_with_max(MATCHERS_MAX_BYTES);

	if (options->selectors.nr == 0)
		return 0;
	int r = target_append_label_matchers(options, &matchers, message);
	return r < 0 ? r : selector_add(selector, strbuf_str(&matchers), message);
}

int record_target_select(const struct options *options, struct selector *selector,
			 struct strbuf *message)
{
	int r;

	if ((r = add_numbers(selector, "pid", &options->pids)) < 0 ||
	    (r = add_numbers(selector, "cpu", &options->cpus)) < 0 ||
	    (r = add_list(selector, "namespace", &options->namespaces)) < 0 ||
	    (r = add_list(selector, "pod", &options->pods)) < 0 ||
	    (r = add_containers(selector, &options->containers, message)) < 0 ||
	    (r = add_pod_labels(selector, options, message)) < 0 ||
	    (r = add_list(selector, "comm", &options->comms)) < 0 ||
	    (r = add_cgroups(selector, options, message)) < 0)
		return r;
	return 0;
}

bool record_target_is_selecting(const struct options *options)
{
	return options->label_selectors.nr > 0 || options->pids.nr > 0 || options->cpus.nr > 0 ||
	       options->namespaces.nr > 0 || options->pods.nr > 0 || options->containers.nr > 0 ||
	       options->selectors.nr > 0 || options->comms.nr > 0 || options->cgroups.nr > 0;
}

const char *record_target_hint(const struct options *options)
{
	if (options->cpus.nr > 0)
		return "a record has CPUs only if the agent runs with --store-cpu";
	if (options->selectors.nr > 0)
		return "a record has only those labels of pods that the agent's --pod-label names";
	return NULL;
}

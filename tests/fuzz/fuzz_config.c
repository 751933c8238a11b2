/* SPDX-License-Identifier: Apache-2.0 */
/* Parses any bytes as a configuration file and stores its values as values of the options that it
 * names. */
#include "base/cleanup.h"
#include "config/config_file.h"
#include "config/option_fields.h"
#include "config/option_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void store_entry(struct options *options, struct destination *destination,
			const struct config_entry *entry)
{
	const struct option *option = option_find(entry->key, COMMAND_AGENT);

	if (!option)
		option = option_find(entry->key, ~0u);
	if (!option) {
		const char *similar = option_nearest(entry->key, COMMAND_AGENT, true);

		if (similar && !option_find(similar, COMMAND_AGENT))
			__builtin_trap();
		return;
	}
	void *field = option_field(option, options, destination);
	if (value_store(option->type, entry->value, field) < 0)
		value_clear(option->type, field);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(config_file_done) struct config_file file = { 0 };
	_cleanup_(options_done) struct options options = { 0 };
	_cleanup_(destination_done) struct destination destination = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);

	int r = config_file_parse((const char *)data, len, "f", &file, &message);
	if (r == -EBADMSG && message.len == 0 && message.error == 0)
		__builtin_trap();
	for (size_t i = 0; r == 0 && i < file.nr_entries; i++)
		store_entry(&options, &destination, &file.entries[i]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/label_check.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "store/label_names.h"

#include <string.h>

static bool is_word(const char *name)
{
	const char *word;

	for (size_t i = 0; (word = label_key_word(i)) != NULL; i++)
		if (strcmp(word, name) == 0)
			return true;
	return false;
}

static size_t count_words(const struct label_check *check)
{
	return (check->selector ? check->selector->nr : 0) + check->nr_words;
}

static const char *word_at(const struct label_check *check, size_t i)
{
	size_t nr_of_selector = check->selector ? check->selector->nr : 0;

	return i < nr_of_selector ? selector_word(check->selector, i)
				  : check->words[i - nr_of_selector];
}

/* Returns whether a label that no sample has is reported. */
static bool is_checked(const struct label_check *check, const char *word)
{
	return check->tells_all || !is_word(word);
}

/* Names are read from all dictionaries of the range, which takes longer than most questions. */
static bool needs_names(const struct label_check *check)
{
	for (size_t i = 0; i < count_words(check); i++)
		if (is_checked(check, word_at(check, i)))
			return true;
	return false;
}

bool label_check_tell(const struct label_check *check, struct strbuf *messages)
{
	_cleanup_(label_names_done) struct label_names names = { 0 };
	bool is_missing = false;

	if (!needs_names(check) || label_names_read(check->reader, &check->range, &names) < 0)
		return false;
	for (size_t i = 0; i < count_words(check); i++) {
		const char *word = word_at(check, i);
		const struct label_key key = label_key_of(word);

		if (!is_checked(check, word) || label_names_have(&names, &key))
			continue;
		strbuf_append_str(messages,
				  is_missing ? " or " : "no sample of this time has a label ");
		printable_append(messages, word);
		is_missing = true;
	}
	if (!is_missing)
		return false;
	strbuf_append_str(messages, "; there are: ");
	label_names_append(&names, messages);
	strbuf_append_char(messages, '\n');
	return true;
}

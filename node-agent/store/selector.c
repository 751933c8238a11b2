/* SPDX-License-Identifier: Apache-2.0 */
#include "store/selector.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/regex_size.h"
#include "profile/wait_reason.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MATCHERS 64
#define TEXT_MAX_BYTES 1024
#define HOST_WORD "host"
#define KEY_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/"

struct matcher {
	char *word; /* owned; the label's name */
	struct label_key key;
	/* owned; one of them must be equal, or the regular expression of the only one match */
	char **values;
	size_t nr_values;
	bool is_negative;
	bool is_regex;
	regex_t regex; /* valid if is_regex */
};

/* The value of an attribute, or NULL. */
static const char *attribute(const struct dict *dict, uint32_t resource, const char *key)
{
	struct word_row row = dict_get(dict, DICT_RESOURCES, resource);

	for (size_t i = 0; i + 1 < row.nr; i += 2)
		if (strcmp(dict_string(dict, row.words[i]), key) == 0)
			return dict_string(dict, row.words[i + 1]);
	return NULL;
}

static const char *first_attribute(const struct dict *dict, uint32_t resource,
				   const struct label_key *key)
{
	const char *value = NULL;

	for (size_t i = 0; !value && i < LABEL_ATTRIBUTES_MAX && key->attributes[i]; i++)
		value = attribute(dict, resource, key->attributes[i]);
	if (!value && strcmp(key->word, HOST_WORD) == 0)
		value = dict->host;
	return value ? value : "";
}

static const char *as_text(uint64_t value, char number[static LABEL_NUMBER_BYTES])
{
	snprintf(number, LABEL_NUMBER_BYTES, "%" PRIu64, value);
	return number;
}

uint64_t label_cgroup(const struct dict *dict, uint32_t labels)
{
	const uint32_t *words = dict_get(dict, DICT_LABELS, labels).words;

	return (uint64_t)words[LABELS_CGROUP_HIGH] << 32 | words[LABELS_CGROUP_LOW];
}

const char *label_value(const struct dict *dict, uint32_t labels, const struct label_key *key,
			char number[static LABEL_NUMBER_BYTES])
{
	const uint32_t *words = dict_get(dict, DICT_LABELS, labels).words;

	switch (key->source) {
	case LABEL_ATTRIBUTE:
		return first_attribute(dict, words[LABELS_RESOURCE], key);
	case LABEL_COMM:
		return dict_string(dict, words[LABELS_PROCESS_COMM]);
	case LABEL_THREAD:
		return dict_string(dict, words[LABELS_THREAD_COMM]);
	case LABEL_PROCESS:
		return dict_string(
			dict,
			dict_get(dict, DICT_PROCESSES, words[LABELS_PROCESS]).words[PROCESS_NAME]);
	case LABEL_PID:
		return as_text(words[LABELS_PID], number);
	case LABEL_CGROUP:
		return as_text(label_cgroup(dict, labels), number);
	case LABEL_CPU:
		return words[LABELS_CPU] ? as_text(words[LABELS_CPU] - 1, number) : "";
	case LABEL_REASON:
		return wait_reason_word(words[LABELS_REASON]);
	}
	return "";
}

/* "NAMESPACE/NAME" of a pod, or a whole value. */
static bool equals(const struct dict *dict, uint32_t labels, const struct matcher *matcher,
		   const char *wanted, const char *value)
{
	const struct label_key namespace_key = label_key_of("namespace");
	const char *slash = strcmp(matcher->word, "pod") == 0 ? strchr(wanted, '/') : NULL;
	char number[LABEL_NUMBER_BYTES];

	if (!slash)
		return strcmp(wanted, value) == 0;
	const char *namespace = label_value(dict, labels, &namespace_key, number);
	size_t len = (size_t)(slash - wanted);
	return strlen(namespace) == len && strncmp(namespace, wanted, len) == 0 &&
	       strcmp(slash + 1, value) == 0;
}

static bool matches(const struct dict *dict, uint32_t labels, const struct matcher *matcher)
{
	char number[LABEL_NUMBER_BYTES];
	const char *value = label_value(dict, labels, &matcher->key, number);

	if (matcher->is_regex)
		return regexec(&matcher->regex, value, 0, NULL, 0) == 0;
	for (size_t i = 0; i < matcher->nr_values; i++)
		if (equals(dict, labels, matcher, matcher->values[i], value))
			return true;
	return false;
}

bool label_is_of_program(const struct label_key *key)
{
	return key->source != LABEL_THREAD && key->source != LABEL_PID &&
	       key->source != LABEL_CPU && key->source != LABEL_REASON;
}

bool selector_is_of_programs(const struct selector *selector)
{
	for (size_t i = 0; i < selector->nr; i++)
		if (!label_is_of_program(&selector->matchers[i].key))
			return false;
	return true;
}

bool selector_is_of_hosts(const struct selector *selector)
{
	for (size_t i = 0; i < selector->nr; i++)
		if (strcmp(selector->matchers[i].word, HOST_WORD) != 0)
			return false;
	return true;
}

const char *selector_word(const struct selector *selector, size_t number)
{
	return selector->matchers[number].word;
}

bool selector_matches(const struct selector *selector, const struct dict *dict, uint32_t labels)
{
	for (size_t i = 0; i < selector->nr; i++) {
		const struct matcher *matcher = &selector->matchers[i];

		if (matches(dict, labels, matcher) == matcher->is_negative)
			return false;
	}
	return true;
}

/* Parsing. */

struct parser {
	const char *text, *at;
	struct strbuf *message; /* borrowed */
};

static int refuse(const struct parser *parser, const char *expected)
{
	strbuf_appendf(parser->message, "%s: expected %s at character %td", parser->text, expected,
		       parser->at - parser->text + 1);
	return -EINVAL;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t");
}

static bool skip(struct parser *parser, const char *word)
{
	skip_blanks(parser);
	if (strncmp(parser->at, word, strlen(word)) != 0)
		return false;
	parser->at += strlen(word);
	return true;
}

static int add_value(struct matcher *matcher, const char *value)
{
	char **values = reallocarray(matcher->values, matcher->nr_values + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	matcher->values = values;
	values[matcher->nr_values] = strdup(value);
	if (!values[matcher->nr_values])
		return -ENOMEM;
	matcher->nr_values++;
	return 0;
}

static int read_key(struct parser *parser, struct matcher *matcher)
{
	skip_blanks(parser);
	size_t len = strspn(parser->at, KEY_CHARACTERS);

	if (len == 0)
		return refuse(parser, "a label's name, such as pod");
	matcher->word = strndup(parser->at, len);
	if (!matcher->word)
		return -ENOMEM;
	matcher->key = label_key_of(matcher->word);
	parser->at += len;
	return 0;
}

static int read_operator(struct parser *parser, struct matcher *matcher)
{
	matcher->is_negative = skip(parser, "!~") ? (matcher->is_regex = true) : skip(parser, "!=");
	if (matcher->is_negative)
		return 0;
	matcher->is_regex = skip(parser, "=~");
	if (matcher->is_regex || skip(parser, "="))
		return 0;
	return refuse(parser, "=, !=, =~ or !~");
}

/* Reads a text in quotation marks, in which \" and \\ stand for characters; other backslashes are
 * those of a regular expression. */
static int read_value(struct parser *parser, struct matcher *matcher)
{
	_cleanup_(strbuf_done) struct strbuf value = strbuf_with_max(TEXT_MAX_BYTES);

	if (!skip(parser, "\""))
		return refuse(parser, "a value in quotation marks");
	while (*parser->at && *parser->at != '"') {
		if (parser->at[0] == '\\' && (parser->at[1] == '"' || parser->at[1] == '\\'))
			parser->at++;
		strbuf_append_char(&value, *parser->at++);
	}
	if (!skip(parser, "\""))
		return refuse(parser, "a quotation mark");
	int r = strbuf_error(&value);
	if (r == -ENOSPC)
		return refuse(parser, "a shorter value");
	return r < 0 ? r : add_value(matcher, strbuf_str(&value));
}

static int compile(const struct parser *parser, struct matcher *matcher)
{
	char text[TEXT_MAX_BYTES + 8], reason[128];
	regex_t regex;

	if (!matcher->is_regex)
		return 0;
	matcher->is_regex = false; /* until there is something to free */
	if (!regex_size_is_small(matcher->values[0])) {
		strbuf_appendf(parser->message, "%s: the regular expression \"%s\" is too complex",
			       parser->text, matcher->values[0]);
		return -EINVAL;
	}
	snprintf(text, sizeof(text), "^(%s)$", matcher->values[0]);
	int error = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);
	if (error == REG_ESPACE)
		return -ENOMEM;
	if (error != 0) {
		regerror(error, &regex, reason, sizeof(reason));
		strbuf_appendf(parser->message, "%s: the regular expression \"%s\" is invalid: %s",
			       parser->text, matcher->values[0], reason);
		return -EINVAL;
	}
	matcher->regex = regex;
	matcher->is_regex = true;
	return 0;
}

static void matcher_done(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->nr_values; i++)
		free(matcher->values[i]);
	free(matcher->values);
	free(matcher->word);
	if (matcher->is_regex)
		regfree(&matcher->regex);
}

/* Takes the matcher if there was no error so far, else frees it. */
static int add_matcher(struct selector *selector, struct matcher *matcher, int r)
{
	if (r == 0)
		r = array_grow(selector->matchers, selector->cap, selector->nr + 1, MAX_MATCHERS);
	if (r < 0)
		matcher_done(matcher);
	else
		selector->matchers[selector->nr++] = *matcher;
	return r;
}

int selector_add_values(struct selector *selector, const char *key, char *const *values, size_t nr)
{
	struct matcher matcher = { .word = strdup(key) };
	int r = matcher.word ? 0 : -ENOMEM;

	if (r == 0)
		matcher.key = label_key_of(matcher.word);
	for (size_t i = 0; r == 0 && i < nr; i++)
		r = add_value(&matcher, values[i]);
	if (r == 0 && nr == 0) {
		matcher_done(&matcher);
		return 0;
	}
	return add_matcher(selector, &matcher, r);
}

static int read_matcher(struct parser *parser, struct selector *selector)
{
	struct matcher matcher = { 0 };
	int r;

	if ((r = read_key(parser, &matcher)) < 0 || (r = read_operator(parser, &matcher)) < 0 ||
	    (r = read_value(parser, &matcher)) < 0)
		matcher.is_regex = false;
	if (r == 0)
		r = compile(parser, &matcher);
	return add_matcher(selector, &matcher, r);
}

int selector_add(struct selector *selector, const char *text, struct strbuf *reterr_msg)
{
	struct parser parser = { text, text, reterr_msg };
	bool has_brace = skip(&parser, "{");
	bool is_empty = has_brace && skip(&parser, "}");
	int r = 0;

	while (!is_empty && r == 0) {
		r = read_matcher(&parser, selector);
		if (r < 0 || !skip(&parser, ","))
			break;
	}
	if (r == -ENOSPC)
		return refuse(&parser, "fewer labels");
	if (r == 0 && has_brace && !is_empty && !skip(&parser, "}"))
		return refuse(&parser, "a comma or }");
	skip_blanks(&parser);
	if (r == 0 && *parser.at)
		return refuse(&parser, "nothing more");
	return r;
}

void selector_done(struct selector *selector)
{
	for (size_t i = 0; i < selector->nr; i++)
		matcher_done(&selector->matchers[i]);
	free(selector->matchers);
	*selector = (struct selector){ 0 };
}

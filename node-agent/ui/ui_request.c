/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_request.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/random.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PATH_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789/._-"
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz_"

int ui_token_make(char token[static UI_TOKEN_LEN + 1])
{
	unsigned char bytes[UI_TOKEN_LEN / 2];

	int r = random_bytes(bytes, sizeof(bytes));
	if (r < 0)
		return r;
	hex_put(token, bytes, sizeof(bytes));
	token[UI_TOKEN_LEN] = '\0';
	return 0;
}

/* Takes the same time for all wrong tokens, so that nobody can find the right one digit by
 * digit. */
static bool is_token(const char *text, size_t len, const char *token)
{
	unsigned int difference = 0;

	if (len != UI_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < UI_TOKEN_LEN; i++)
		difference |= (unsigned char)text[i] ^ (unsigned char)token[i];
	return difference == 0;
}

/* Returns the value of a digit of either case, or -1. */
static int digit_of(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : hex_value(c);
}

/* Decodes percent signs and pluses in place. Errors: -EINVAL. */
static int decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		char c = *from;

		if (c == '+')
			c = ' ';
		if (c == '%') {
			int high = digit_of(from[1]);
			int low = from[1] ? digit_of(from[2]) : -1;

			if (high < 0 || low < 0)
				return -EINVAL;
			c = (char)(high << 4 | low);
			from += 2;
		}
		if ((unsigned char)c < ' ' || c == 0x7f)
			return -EINVAL;
		*to++ = c;
	}
	*to = '\0';
	return utf8_is_valid(text) ? 0 : -EINVAL;
}

/* Adds "name=value", which is changed. */
static int add_parameter(struct ui_request *request, char *text)
{
	size_t len = strspn(text, NAME_CHARACTERS);

	if (len == 0 || text[len] != '=')
		return -EINVAL;
	text[len] = '\0';
	if (ui_request_get(request, text))
		return -EINVAL;
	if (request->nr_parameters == UI_MAX_PARAMETERS)
		return -ENOSPC;
	request->parameters[request->nr_parameters++] = (struct ui_parameter){
		.name = text,
		.value = text + len + 1,
	};
	return decode(text + len + 1);
}

static int add_parameters(struct ui_request *request, char *query)
{
	int r = 0;

	while (r == 0 && query && *query) {
		char *part = strsep(&query, "&");

		r = add_parameter(request, part);
	}
	return r;
}

static int parse(struct ui_request *request, const char *token)
{
	char *query = strchr(request->text, '?');
	char *slash = request->text[0] == '/' ? strchr(request->text + 1, '/') : NULL;

	if (query)
		*query++ = '\0';
	if (!slash || !is_token(request->text + 1, (size_t)(slash - request->text) - 1, token) ||
	    slash[1 + strspn(slash + 1, PATH_CHARACTERS)] != '\0')
		return -ENOENT;
	request->path = slash + 1;
	return add_parameters(request, query);
}

int ui_request_parse(const char *uri, const char token[static UI_TOKEN_LEN + 1],
		     struct ui_request *ret_request)
{
	_cleanup_(ui_request_done) struct ui_request request = { 0 };

	if (strlen(uri) > UI_URI_MAX_BYTES)
		return -ENOSPC;
	request.text = strdup(uri);
	if (!request.text)
		return -ENOMEM;
	int r = parse(&request, token);
	if (r < 0)
		return r;
	*ret_request = request;
	request.text = NULL;
	return 0;
}

void ui_request_done(struct ui_request *request)
{
	free(request->text);
}

const char *ui_request_get(const struct ui_request *request, const char *name)
{
	for (size_t i = 0; i < request->nr_parameters; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

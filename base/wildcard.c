/* SPDX-License-Identifier: Apache-2.0 */
#include "base/wildcard.h"

#include <string.h>

bool wildcard_matches(const char *pattern, const char *text)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(pattern, text, len - 1) == 0;
	return strcmp(pattern, text) == 0;
}

bool wildcard_matches_any(const char *const *patterns, size_t nr, const char *text)
{
	for (size_t i = 0; i < nr; i++)
		if (wildcard_matches(patterns[i], text))
			return true;
	return false;
}

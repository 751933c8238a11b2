/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles names, one a line on standard input, in the style given: "short" or "full". */
#include "symbol/demangle/demangle.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	enum demangle_style style = argc == 2 && strcmp(argv[1], "short") == 0 ? DEMANGLE_SHORT
									       : DEMANGLE_FULL;
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;

	for (ssize_t len; (len = getline(&line, &capacity, stdin)) > 0;) {
		line[len - 1] = '\0';

		_cleanup_free_ char *name = demangle(line, style);
		if (!name || puts(name) < 0)
			return 1;
	}
	return 0;
}

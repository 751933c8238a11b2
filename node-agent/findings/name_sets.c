/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/name_sets.h"

#include "base/array.h"
#include "base/strview.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 16384
#define NAMES_BYTES_MAX ((size_t)1 << 20)
#define NAME_BYTES_MAX 256 /* longer names are in the sets of their prefixes only */

int name_sets_init(struct name_sets *sets)
{
	*sets = (struct name_sets){ 0 };
	return intern_init(&sets->names, NAMES_MAX, NAMES_BYTES_MAX);
}

void name_sets_done(struct name_sets *sets)
{
	intern_done(&sets->names);
	free(sets->bits);
	free(sets->prefixes);
	*sets = (struct name_sets){ 0 };
}

static int add_prefix(struct name_sets *sets, struct strview prefix, int set)
{
	int r = array_grow(sets->prefixes, sets->cap_prefixes, sets->nr_prefixes + 1, NAMES_MAX);

	if (r < 0)
		return r;
	struct name_prefix *to = &sets->prefixes[sets->nr_prefixes++];
	*to = (struct name_prefix){ .text = prefix.text, .len = prefix.len };
	name_bits_set(&to->bits, set);
	return 0;
}

static int add_name(struct name_sets *sets, struct strview name, int set)
{
	char text[NAME_BYTES_MAX];
	uint32_t id;

	if (name.len >= sizeof(text))
		return -ENOSPC;
	memcpy(text, name.text, name.len);
	text[name.len] = '\0';
	int r = intern_add(&sets->names, text, &id);
	if (r == 0)
		r = array_grow(sets->bits, sets->cap_bits, (size_t)id + 1, NAMES_MAX);
	if (r < 0)
		return r;
	while (sets->nr_bits <= id)
		sets->bits[sets->nr_bits++] = (struct name_bits){ 0 };
	name_bits_set(&sets->bits[id], set);
	return 0;
}

int name_sets_add(struct name_sets *sets, const char *list, char separator)
{
	struct strview rest = strview_of(list, SIZE_MAX), name;
	int r = 0;

	for (size_t i = 0; i < sets->nr; i++)
		if (strcmp(sets->lists[i], list) == 0)
			return (int)i;
	if (sets->nr == NAME_SETS_MAX)
		return -ENOSPC;

	int set = (int)sets->nr;
	while (r == 0 && strview_next(&rest, separator, &name)) {
		if (strview_ends_with(name, "*"))
			r = add_prefix(sets, strview_head(name, name.len - 1), set);
		else if (name.len > 0)
			r = add_name(sets, name, set);
	}
	if (r < 0)
		return r;
	sets->lists[sets->nr++] = list;
	return set;
}

static bool is_suffix(const char *text)
{
	static const char *const suffixes[] = { ".isra.", ".constprop.", ".part.",
						".cold",  ".llvm.",	 ".lto_priv." };

	for (size_t i = 0; i < array_len(suffixes); i++)
		if (strncmp(text, suffixes[i], strlen(suffixes[i])) == 0)
			return true;
	return false;
}

/* Returns the length of a name without the suffixes of compilers, of which there may be several:
 * "x.constprop.0.isra.0". Other dots belong to the name: "runtime.main". */
static size_t length_without_suffixes(const char *name)
{
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
		if (dot > name && is_suffix(dot))
			return (size_t)(dot - name);
	return strlen(name);
}

struct name_bits name_sets_of(const struct name_sets *sets, const char *name)
{
	size_t len = length_without_suffixes(name);
	struct name_bits bits = { 0 };
	char text[NAME_BYTES_MAX];
	uint32_t id;

	for (size_t i = 0; i < sets->nr_prefixes; i++) {
		const struct name_prefix *prefix = &sets->prefixes[i];

		if (name[0] == prefix->text[0] && strncmp(name, prefix->text, prefix->len) == 0)
			name_bits_add(&bits, prefix->bits);
	}
	if (len == 0 || len >= sizeof(text))
		return bits;
	memcpy(text, name, len);
	text[len] = '\0';
	if (intern_find(&sets->names, text, &id) == 0)
		name_bits_add(&bits, sets->bits[id]);
	return bits;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "config/entry_list.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void entry_list_done(struct entry_list *list)
{
	arena_done(&list->arena);
	free(list->items);
	*list = (struct entry_list){ 0 };
}

/* Appends the entry with copies of its strings. */
static int append(struct entry_list *list, const struct option_entry *entry)
{
	struct option_entry copy = *entry;

	int r = array_grow(list->items, list->cap, list->nr + 1, ENTRIES_MAX);
	if (r < 0)
		return r;
	copy.text = arena_strndup(&list->arena, entry->text, strlen(entry->text));
	copy.where = arena_strndup(&list->arena, entry->where, strlen(entry->where));
	if (!copy.text || !copy.where)
		return -ENOMEM;
	list->items[list->nr++] = copy;
	return 0;
}

int entry_list_add(struct entry_list *list, enum option_source source, const struct option *option,
		   const char *where, const char *value)
{
	return append(list, &(struct option_entry){ ENTRY_VALUE, source, option, value, where });
}

int entry_list_add_message(struct entry_list *list, enum entry_kind kind, enum option_source source,
			   const struct option *option, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL; /* asprintf(3): its content is undefined */
	va_end(args);
	return text ? append(list, &(struct option_entry){ kind, source, option, text, "" })
		    : -ENOMEM;
}

void entry_list_shrink(struct entry_list *list, size_t nr)
{
	if (nr < list->nr)
		list->nr = nr;
}

const struct option_entry *entry_list_find(const struct entry_list *list,
					   const struct option *option)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->items[i].option == option)
			return &list->items[i];
	}
	return NULL;
}

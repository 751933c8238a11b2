/* SPDX-License-Identifier: Apache-2.0 */
#include "config/option_list.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

int string_list_add(struct string_list *list, const char *text)
{
	int r = array_grow(list->items, list->cap, list->nr + 1, LIST_ITEMS_MAX);
	if (r < 0)
		return r;

	char *copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	list->items[list->nr++] = copy;
	return 0;
}

void string_list_done(struct string_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct string_list){ 0 };
}

int number_list_add(struct number_list *list, uint32_t number)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->items[i] == number)
			return 0;
	}

	int r = array_grow(list->items, list->cap, list->nr + 1, LIST_ITEMS_MAX);
	if (r < 0)
		return r;
	list->items[list->nr++] = number;
	return 0;
}

void number_list_done(struct number_list *list)
{
	free(list->items);
	*list = (struct number_list){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The entries that sources of options return, from the strongest source to the weakest. Sources
 * only append to the list; the loader (option_loader.h) decides which entries count. */
#ifndef CONFIG_ENTRY_LIST_H
#define CONFIG_ENTRY_LIST_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

#define ENTRIES_MAX ((size_t)1 << 20)

struct option;

/* Ordered from the strongest to the weakest. */
enum option_source {
	SOURCE_NONE,
	SOURCE_COMMAND_LINE,
	SOURCE_FILE,
	SOURCE_ENVIRONMENT,
	SOURCE_CLUSTER,
	SOURCE_DEFAULT,
};

enum entry_kind {
	ENTRY_VALUE,
	ENTRY_REFUSAL, /* fails the load */
	ENTRY_WARNING, /* is shown to the user if the load succeeds */
};

struct option_entry {
	enum entry_kind kind;
	enum option_source source;
	const struct option *option; /* NULL: the entry belongs to no option */
	const char *text; /* the unchecked value, or the message */
	const char *where; /* of a value, for messages: "--name", "file:line: name", a variable */
};

struct entry_list {
	struct arena arena; /* the entries' strings */
	struct option_entry *items; /* owned */
	size_t nr, cap;
};

/* Frees all entries. */
void entry_list_done(struct entry_list *list);

/* Appends a value. Copies `where` and `value`; `option` is borrowed.
 * Errors: -ENOSPC for more than ENTRIES_MAX entries, -ENOMEM. */
int entry_list_add(struct entry_list *list, enum option_source source, const struct option *option,
		   const char *where, const char *value) must_check;

/* Appends a refusal or a warning. Errors as above. */
int entry_list_add_message(struct entry_list *list, enum entry_kind kind, enum option_source source,
			   const struct option *option, const char *format, ...)
	must_check printf_like(5, 6);

/* Appends the reason why the load fails. With an option, the refusal does not count when a stronger
 * source sets that option. */
#define entry_list_refuse(list, source, option, ...)                                               \
	entry_list_add_message((list), ENTRY_REFUSAL, (source), (option), __VA_ARGS__)

/* Appends a warning. */
#define entry_list_warn(list, ...)                                                                 \
	entry_list_add_message((list), ENTRY_WARNING, SOURCE_NONE, NULL, __VA_ARGS__)

/* Removes all entries except the first `nr`. */
void entry_list_shrink(struct entry_list *list, size_t nr);

/* Returns the first entry of an option, which comes from the strongest source that sets it; NULL if
 * no source does. */
const struct option_entry *entry_list_find(const struct entry_list *list,
					   const struct option *option);

#endif

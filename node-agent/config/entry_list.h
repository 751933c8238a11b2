/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of options say, entry by entry, from the strongest source to the weakest. Sources
 * only append to the list; the loader (option_loader.h) decides what an entry is worth. */
#ifndef CONFIG_ENTRY_LIST_H
#define CONFIG_ENTRY_LIST_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

#define ENTRIES_MAX ((size_t)1 << 20)

struct option;

/* From the strongest to the weakest. */
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
	ENTRY_REFUSAL, /* the load fails here */
	ENTRY_WARNING, /* the user is told, the load goes on */
};

struct option_entry {
	enum entry_kind kind;
	enum option_source source;
	const struct option *option; /* NULL: the entry is not about an option of the table */
	const char *text; /* the value, not checked yet; or the message */
	const char *where; /* of a value: the option, line or variable, as the user knows it */
};

struct entry_list {
	struct arena arena; /* the entries' strings */
	struct option_entry *items; /* owned */
	size_t nr, cap;
};

void entry_list_done(struct entry_list *list);

/* Appends a value. Copies `where` and `value`; `option` is borrowed.
 * Errors: -ENOSPC for more than ENTRIES_MAX entries, -ENOMEM. */
int entry_list_add(struct entry_list *list, enum option_source source, const struct option *option,
		   const char *where, const char *value) must_check;

/* Appends the reason why the load fails. With an option, the refusal does not count when a stronger
 * source sets that option. Errors as above. */
int entry_list_refuse(struct entry_list *list, enum option_source source,
		      const struct option *option, const char *format, ...)
	must_check printf_like(4, 5);

/* Appends a warning. Errors as above. */
int entry_list_warn(struct entry_list *list, const char *format, ...) must_check printf_like(2, 3);

/* Forgets all entries but the first `nr`. */
void entry_list_shrink(struct entry_list *list, size_t nr);

/* The first entry of an option, which is of the strongest source that has one; NULL when none has. */
const struct option_entry *entry_list_find(const struct entry_list *list,
					   const struct option *option);

#endif

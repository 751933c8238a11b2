/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values of attributes: how important they are, and what destinations accept. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_NAMES_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_NAMES_H

#include <stdbool.h>

#define ATTRIBUTE_NAME_MAX 1024
#define ATTRIBUTE_VALUE_MAX 2048

/* For which backend names are made: attribute_maker.h says what the presets do. */
enum attribute_preset { ATTRIBUTES_STANDARD, ATTRIBUTES_PYROSCOPE };

/* Over the limit, the last ranks are dropped first. */
enum attribute_rank {
	ATTRIBUTE_RANK_IDENTITY, /* never dropped */
	ATTRIBUTE_RANK_WORKLOAD,
	ATTRIBUTE_RANK_CHOSEN, /* chosen by the user: all names not listed here */
	ATTRIBUTE_RANK_POD_LABEL,
	ATTRIBUTE_RANK_POD_ANNOTATION,
	ATTRIBUTE_RANK_ID,
	ATTRIBUTE_RANK_DETAIL,
};

enum attribute_rank attribute_rank_of(const char *key);

/* Returns whether destinations treat two clean names as equal. */
bool attribute_names_clash(enum attribute_preset preset, const char *a, const char *b);

/* Returns whether the destination sets an attribute of this clean name itself. */
bool attribute_name_is_reserved(enum attribute_preset preset, const char *name);

/* Fills in the name in the form in which it may be sent; "" only for "". */
void attribute_name_clean(enum attribute_preset preset, const char *name,
			  char clean[static ATTRIBUTE_NAME_MAX + 1]);

/* Appends a number to a clean name if it is taken. */
void attribute_name_make_unique(char name[static ATTRIBUTE_NAME_MAX + 1],
				bool (*is_taken)(const char *name, const void *data),
				const void *data);

/* Fills in the value in the form in which it may be sent. */
void attribute_value_clean(const char *value, char clean[static ATTRIBUTE_VALUE_MAX + 1]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the tables of a pprof message to those of a builder. An element is translated when it is
 * first requested, and its new number is remembered. Unused elements are ignored. */
#ifndef PROFILE_PPROF_TRANSLATOR_H
#define PROFILE_PPROF_TRANSLATOR_H

#include "base/strbuf.h"
#include "profile/builder.h"
#include "profile/pprof_message.h"

struct pprof_translator {
	const struct pprof_message *message; /* borrowed */
	struct builder *builder; /* borrowed */
	/* Owned; the memory of the following: new numbers + 1, 0: not asked for yet */
	uint32_t *numbers;
	uint32_t *strings;
	uint32_t *attributes; /* strings: the attributes that labels of these names are */
	uint32_t *mappings;
	uint32_t *functions;
	uint32_t *locations;
	struct profile_line *lines; /* owned; of a location */
	size_t nr_lines, cap_lines;
	struct strbuf text; /* scratch */
};

/* Both stay borrowed. Errors: -ENOMEM. The following: what pprof_message.h and builder.h say. */
int pprof_translator_init(struct pprof_translator *translator, const struct pprof_message *message,
			  struct builder *builder) must_check;
void pprof_translator_done(struct pprof_translator *translator);

int pprof_translate_string(struct pprof_translator *translator, uint64_t old, uint32_t *ret_new)
	must_check;

/* Translates the name of a label to that of its attribute. */
int pprof_translate_attribute(struct pprof_translator *translator, uint64_t label,
			      uint32_t *ret_new) must_check;

/* Translates an element of the table of locations. */
int pprof_translate_location(struct pprof_translator *translator, uint32_t element,
			     uint32_t *ret_new) must_check;

/* Adds a location that is not code but a remark about the stack. */
int pprof_translator_add_remark(struct pprof_translator *translator, const char *text,
				uint32_t *ret_new) must_check;

#endif

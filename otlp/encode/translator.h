/* SPDX-License-Identifier: Apache-2.0 */
/* Converts elements of a profile, and the elements they refer to, to elements of an OTLP
 * dictionary. Returned numbers are the dictionary's. Failures are kept in the dictionary. */
#ifndef OTLP_ENCODE_TRANSLATOR_H
#define OTLP_ENCODE_TRANSLATOR_H

#include "base/err.h"
#include "otlp/encode/dictionary.h"
#include "otlp/encode/encode.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSLATOR_NR_ATTRIBUTES 7 /* of enum sample_attribute */
#define TRANSLATOR_NR_KINDS (FRAME_LABEL + 1)
#define TRANSLATOR_NR_CPUS 512 /* remembered by number; the others are looked up each time */

struct translator {
	const struct profile *profile; /* borrowed */
	bool drops_addresses; /* of frames with a symbol's name */
	struct dictionary dictionary;
	struct strbuf message; /* scratch: the element being built */
	uint32_t *numbers; /* owned; the memory of the following, new numbers + 1 by old number */
	uint32_t *strings;
	uint32_t *thread_names; /* attributes, by string */
	uint32_t *containers;
	uint32_t *mappings;
	uint32_t *functions;
	uint32_t *locations;
	uint32_t *stacks;
	uint32_t *location_mappings; /* without the 1; 0: it leaves without one */
	uint32_t frame_types[TRANSLATOR_NR_KINDS]; /* attributes by kind; 0: not so far, or none */
	uint32_t cpus[TRANSLATOR_NR_CPUS]; /* attributes by CPU; 0: not so far */
	uint32_t reasons[REASON_NR]; /* the same by reason of a wait */
	uint64_t last_cgroup; /* its attribute: samples come by resource */
	uint32_t last_cgroup_attribute;
	uint32_t frames[ENCODE_STACK_MAX_FRAMES]; /* scratch: the stack being built */
};

/* Initialises a translator. Errors: as dictionary_init(); translator_done() is needed then, too. */
int translator_init(struct translator *translator, const struct encode_job *job, size_t max_bytes)
	must_check;
void translator_done(struct translator *translator);

/* Adds a string. Returns its number. */
uint32_t translator_add_text(struct translator *translator, const char *text);

uint32_t translator_add_stack(struct translator *translator, uint32_t stack);

/* Fills in the numbers of a sample's attributes. Returns how many there are. */
size_t translator_add_attributes(struct translator *translator, const struct kept_attributes *kept,
				 uint32_t attributes[static TRANSLATOR_NR_ATTRIBUTES]);

#endif

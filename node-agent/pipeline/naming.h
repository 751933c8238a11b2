/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the locations of a finished window: the loader's half of symbolization. Every location leaves
 * with a name; where there is no symbol it is `libfoo.so+0x123`, whose number addr2line takes. */
#ifndef PIPELINE_NAMING_H
#define PIPELINE_NAMING_H

#include "base/err.h"
#include "pipeline/window.h"
#include "symbol/elf_cache.h"
#include "symbol/kallsyms.h"

#include <stdint.h>

struct namer {
	struct elf_cache *elfs; /* borrowed */
	const struct kallsyms *kallsyms; /* borrowed; NULL when they could not be read */
	uint64_t nr_named; /* locations that got a symbol's name */
	uint64_t nr_unnamed; /* that got file+0xoffset */
};

/* Names all locations and completes the mappings. Errors: those of the builder; what is done stays. */
int name_window(struct namer *namer, struct window *window) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where an argument of a USDT probe is, as its note says in the language of the assembler:
 * "8@%rdi", "-4@-20(%rbp)"; on arm64 "8@x0", "8@[sp, 16]". */
#ifndef ELF_PROBE_ARGUMENT_H
#define ELF_PROBE_ARGUMENT_H

#include "base/err.h"

#include <stdint.h>

/* The operand behind the "@", without blanks at its ends. `ret_place` becomes a register of
 * bpf/shared/heap.h, HEAP_IN_MEMORY and the offset. Errors: -EOPNOTSUPP another place, -EINVAL no
 * place at all. */
int probe_argument_parse_operand(const char *operand, uint64_t *ret_place) must_check;

/* Parses an offset and returns it in its place. Errors: -EINVAL no number, -EOPNOTSUPP too
 * large. */
int probe_argument_parse_offset(const char **text, uint64_t *ret_place) must_check;

/* Parses the arguments of a probe, as many as are wanted: more may follow. Errors: as above;
 * -EINVAL too few. */
int probe_argument_parse_all(const char *text, int nr_wanted, uint64_t *ret_arguments) must_check;

#endif

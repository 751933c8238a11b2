/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a Go program by its function table (.gopclntab), which no strip(1) and no
 * `-ldflags=-s` removes: Go itself needs it. Names are those of the symbol table, "main.(*T).Run",
 * but for type arguments, which are "[...]". */
#ifndef SYMBOL_ELF_GO_NAMES_H
#define SYMBOL_ELF_GO_NAMES_H

#include "elf/gopclntab_table.h"
#include "symbol/elf/elf_symbol_list.h"

/* Go's code, from runtime.text to runtime.etext: where the first function begins and the last one
 * ends; both 0 when the table does not tell. */
void go_names_range(const struct gopclntab_table *table, uint64_t *ret_start, uint64_t *ret_end);

/* Appends all functions as a source; the table's data outlives the list. Errors: -ENOSPC,
 * -ENOMEM. */
int go_names_list(const struct gopclntab_table *table, struct elf_symbol_list *list) must_check;

#endif

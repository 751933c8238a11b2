/* SPDX-License-Identifier: Apache-2.0 */
/* Registers, stack, mapping table and row table of an unwind, whatever they are. An
 * input is a program that fills all this, see struct input: words that point somewhere
 * are more often useful than not. */
#ifndef TESTS_FUZZ_UNWIND_INPUT_H
#define TESTS_FUZZ_UNWIND_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* Into what tests/bpf_host/fake_bpf.h stands for, after a reset. */
void unwind_input_fill(const uint8_t *data, size_t len);

#endif

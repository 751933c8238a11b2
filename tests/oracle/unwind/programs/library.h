/* SPDX-License-Identifier: Apache-2.0 */
/* A shared library of functions that are hardly longer than the way to them. */
#ifndef TESTS_UNWIND_PROGRAMS_LIBRARY_H
#define TESTS_UNWIND_PROGRAMS_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned long library_apply(unsigned long (*function)(unsigned long), unsigned long value);
unsigned long library_add(unsigned long a, unsigned long b);
unsigned long library_twice(unsigned long a);
unsigned long library_chain(unsigned long a);

#ifdef __cplusplus
}
#endif

#endif

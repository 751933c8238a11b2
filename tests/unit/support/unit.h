/* SPDX-License-Identifier: Apache-2.0 */
/* Includes for every cmocka test program, in the order that cmocka needs. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

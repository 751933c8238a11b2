/* SPDX-License-Identifier: Apache-2.0 */
/* What every cmocka test program includes, in the order cmocka wants it. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Option values from environment variables, translated to what the command line would say. */
#ifndef CONFIG_ENVIRONMENT_H
#define CONFIG_ENVIRONMENT_H

#include "base/err.h"
#include "config/option_table.h"
#include "config/options.h"

/* The first of the names that is set, or NULL. A variable that is empty is not set. */
const char *env_first_set(const char *const *names, size_t nr_names);

/* The name of the variable that sets the option, or NULL. */
const char *env_variable_of(const struct option *option);

/* Appends to `values` what a variable of that format says: one text, or one for each
 * header or attribute.
 * Errors: -EINVAL when it does not have that format, -ENOSPC, -ENOMEM. */
int env_translate(enum env_format format, const char *text, struct string_list *values) must_check;

#endif

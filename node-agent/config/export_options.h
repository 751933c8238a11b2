/* SPDX-License-Identifier: Apache-2.0 */
/* One destination of profiles. */
#ifndef CONFIG_EXPORT_OPTIONS_H
#define CONFIG_EXPORT_OPTIONS_H

#include "config/option_list.h"

#include <stdbool.h>
#include <stdint.h>

/* Strings are owned; NULL: not given. */
struct export_options {
	char *endpoint;
	bool endpoint_is_full; /* use the URL as it is, without adding OTLP's path */
	struct string_list headers; /* "Name: value" */
	char *ca_file;
	uint64_t timeout_ns; /* of one request */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The words in an error that is JSON: google.rpc.Status, Connect's errors and many others have a
 * "message". */
#ifndef OTLP_TRANSPORT_JSON_MESSAGE_H
#define OTLP_TRANSPORT_JSON_MESSAGE_H

#include <stddef.h>

/* The string called "message" in the object `text`, to be freed, or NULL: there is none, or no
 * memory. */
char *json_message(const char *text, size_t len);

#endif

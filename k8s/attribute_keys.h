/* SPDX-License-Identifier: Apache-2.0 */
/* Which labels and annotations of a pod become attributes of its resource: pure functions over
 * text. */
#ifndef K8S_ATTRIBUTE_KEYS_H
#define K8S_ATTRIBUTE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a key is in a list; a trailing "*" in the list stands for any end. */
bool attribute_key_is_listed(const char *const *list, size_t nr, const char *key);

/* The attribute that an annotation resource.opentelemetry.io/KEY asks for: KEY, a part of
 * `annotation`. NULL for all other annotations; for service.name and service.namespace, which have
 * an order of their own (workload.h); and for keys by which a pod could pass for another one, or
 * for another host. */
const char *attribute_key_of_annotation(const char *annotation);

#endif

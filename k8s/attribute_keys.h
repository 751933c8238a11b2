/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_ATTRIBUTE_KEYS_H
#define K8S_ATTRIBUTE_KEYS_H

/* Returns the attribute that an annotation resource.opentelemetry.io/KEY sets: KEY, a part of
 * `annotation`. Returns NULL for other annotations; for service.name and service.namespace, which
 * workload.h handles; and for keys with which a pod could pass for another pod or host. */
const char *attribute_key_of_annotation(const char *annotation);

#endif

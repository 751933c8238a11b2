/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/export_attributes.h"

#include <stdlib.h>

void export_attributes_done(struct export_attributes *attributes)
{
	free(attributes->groups);
	free(attributes->samples);
	arena_done(&attributes->memory);
	*attributes = (struct export_attributes){ 0 };
}

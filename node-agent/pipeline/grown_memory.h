/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PIPELINE_GROWN_MEMORY_H
#define PIPELINE_GROWN_MEMORY_H

#include <stdint.h>

/* Returns the name of the frame on top of the stack of who made memory grow, by enum grown_memory
 * (bpf/shared/growth.h). Static. */
const char *grown_memory_name(uint8_t memory);

#endif

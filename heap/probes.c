/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/probes.h"

#define SEMAPHORE __attribute__((section(".probes"), visibility("hidden"), used))

volatile uint16_t probes_alloc_readers SEMAPHORE = 0;
volatile uint16_t probes_free_readers SEMAPHORE = 0;

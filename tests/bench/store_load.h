/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of a made node, second by second: 128 CPUs at 20 Hz, 100 pods, 2700 ELF files. */
#ifndef BENCH_STORE_LOAD_H
#define BENCH_STORE_LOAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "profile/profile.h"
#include "tests/bench/store_model.h"

#include <stdint.h>

#define LOAD_CPUS 128
#define LOAD_HZ 20

struct load;

/* `busy_percent` is the share of CPU time that is used. The model is borrowed. Errors: -ENOMEM. */
int load_new(struct model *model, unsigned int busy_percent, struct load **ret_load) must_check;
void load_free(struct load *load);
DEFINE_FREEP(struct load, load_free)

/* Makes the profile of a second (Unix time). Errors: -ENOSPC, -ENOMEM. */
int load_second(struct load *load, uint64_t second, struct profile **ret_profile) must_check;

#endif

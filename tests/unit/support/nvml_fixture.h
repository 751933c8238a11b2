/* SPDX-License-Identifier: Apache-2.0 */
/* A directory with a copy of the stand-in of NVIDIA's library (standin/nvml_standin.c). */
#ifndef TESTS_UNIT_NVML_FIXTURE_H
#define TESTS_UNIT_NVML_FIXTURE_H

#include "base/err.h"

struct nvml_fixture {
	char dir[64];
	char library[128]; /* its path */
};

/* Errors: those of mkdtemp(3), and of copying the library. */
int nvml_fixture_init(struct nvml_fixture *fixture) must_check;
void nvml_fixture_done(struct nvml_fixture *fixture);

/* Writes the words that control the library. */
void nvml_fixture_control(const struct nvml_fixture *fixture, const char *words);

#endif

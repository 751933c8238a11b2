/* SPDX-License-Identifier: Apache-2.0 */
/* The mapped files of recorded snapshots, and of each one's call frame information as much as
 * its functions on recorded stacks need. Failures end the program. */
#ifndef TESTS_BPF_HOST_RECORDED_FILES_H
#define TESTS_BPF_HOST_RECORDED_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct recorded_file;

/* A file by its path; read when it is new. */
struct recorded_file *recorded_file_get(const char *name, Elf *elf);

/* Keeps what describes the code at a virtual address, and the functions on both sides: rules may
 * reach into the padding between them. Returns whether it is a signal's frame. */
bool recorded_file_keep(struct recorded_file *file, uint64_t address);

/* Counts from 1; 0: not recorded. */
size_t recorded_slot(const char *path);

void recorded_files_write(FILE *out);

/* Also used by the other half of the writer. */
char *recorded_name(const char *name);
const char *recorded_base_name(const char *path);
void recorded_hex(FILE *out, const uint8_t *data, size_t len);
void recorded_must_fit(size_t nr, size_t max, const char *what);

#endif

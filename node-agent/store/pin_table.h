/* SPDX-License-Identifier: Apache-2.0 */
/* The table of pins in a file of the record, and how a file is made of pinned ranges of another
 * one. Errors are those of store/store_file.h. */
#ifndef STORE_PIN_TABLE_H
#define STORE_PIN_TABLE_H

#include "base/err.h"
#include "store/store_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIN_ID_BYTES 24
#define PIN_NOTE_BYTES 1024

/* A range that outlives the limits of the record. */
struct pin {
	char id[PIN_ID_BYTES]; /* "p12"; of an automatic one, that of its event: "e345" */
	uint64_t first_s, end_s; /* Unix time; `end_s` is behind the last second */
	uint64_t made_s; /* Unix time */
	bool is_automatic;
	char note[PIN_NOTE_BYTES];
};

/* Copies from another file: its dictionary, and all rows with seconds of one of the pins. The pins
 * themselves are added, too. Blocks are copied whole. `file` must be new. Returns the number of
 * blocks. */
int pin_table_import(struct store_file *file, const char *path, const struct pin *pins,
		     size_t nr_pins) must_check;

/* Visits the pins in the order of their time. Notes are whatever the file has: any bytes, perhaps
 * truncated. A visitor's error ends the reading and is returned. */
typedef int (*pin_table_visit)(const struct pin *pin, void *context);
int pin_table_read(struct store_file *file, pin_table_visit visit, void *context) must_check;

#endif

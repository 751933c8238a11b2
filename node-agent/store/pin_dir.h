/* SPDX-License-Identifier: Apache-2.0 */
/* Pins: ranges of a record that outlive its limits. They are kept in the directory "pin" of the
 * record's directory. For each file of the record with a pinned range, it has one of the same name
 * with a copy of its pinned ranges. Such a file is read only if the original is gone, so that
 * nothing is counted twice.
 *
 * All pins together may take a quarter of the record's limit. Pins that users made are never
 * removed. Automatic ones, of the worst events of each day, give way to others, the oldest first.
 *
 * A pin can be made while an agent writes the record: a lock protects the directory. The errors
 * are those of store/store_file.h, if not said otherwise. */
#ifndef STORE_PIN_DIR_H
#define STORE_PIN_DIR_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/pin_table.h"
#include "store/time_range.h"

#include <stddef.h>
#include <stdint.h>

#define PIN_DIR_NAME "pin"
#define PIN_DIR_SHARE 4 /* pins may take 1 / 4 of the record's limit */

struct pin_list {
	struct pin *items; /* owned; by the time of their beginnings; each id once */
	size_t nr, cap;
};

void pin_list_done(struct pin_list *list);

/* Lists the pins of a record's directory. Without any, the list is empty. */
int pin_dir_list(const char *dir, struct pin_list *ret_list) must_check;

/* Returns the size of all pins. */
uint64_t pin_dir_bytes(const char *dir);

/* Prepares the directory, and notes the limit of the record for pin_dir_add(). On failure
 * `reterr_msg` says what is wrong. Errors: those of own_dir_open() and file_replace_at(). */
int pin_dir_prepare(const char *dir, uint64_t max_bytes, struct strbuf *reterr_msg) must_check;

/* Pins a range. Waits if another process changes the pins. pin->id is set. On failure `reterr_msg`
 * says what is wrong, and nothing changes. Errors: -ENOENT the record has nothing of that range;
 * -EDQUOT the pins would take more than they may. */
int pin_dir_add(const char *dir, struct pin *pin, struct strbuf *reterr_msg) must_check;

/* Pins the range of an event, whose name is the id of the pin. Does not wait. Errors: those of
 * pin_dir_add(); -EBUSY another process changes the pins. */
int pin_dir_add_event(const char *dir, const struct pin *pin, struct strbuf *reterr_msg) must_check;

/* Removes a pin. Errors: -ENOENT there is none with that id. */
int pin_dir_remove(const char *dir, const char *id, struct strbuf *reterr_msg) must_check;

/* To be called before a file of the record is removed: completes the copies of its pinned ranges,
 * and pins the worst events of its day. Returns how many of these could not be pinned because pins
 * would take more than they may. Errors: -EBUSY another process changes the pins; the file should
 * stay until later. */
int pin_dir_keep(const char *dir, const char *name, uint64_t max_bytes) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The processes in each resource of a profile, and which of them are sent as one.
 *
 * ATTRIBUTES_STANDARD has the attributes of the semantic conventions: process.executable.name and
 * .path, process.pid, process.creation.time. A destination keeps something for each process, so not
 * all processes leave with their pid. A process that was not seen a second after its start leaves
 * without it, as nobody will ask for its number, and so do the processes beyond the busiest
 * ATTRIBUTE_PROCESSES_MAX of a profile. They are joined by their program. The kernel's threads are
 * joined as well.
 *
 * ATTRIBUTES_PYROSCOPE has the name of the program, as "process", and joins all processes of that
 * name.
 *
 * The guard decides which programs leave by name (attribute_maker.h); the others of a resource are
 * joined as ATTRIBUTE_OTHER_TEXT. */
#ifndef OTLP_ATTRIBUTES_ATTRIBUTE_PROCESSES_H
#define OTLP_ATTRIBUTES_ATTRIBUTE_PROCESSES_H

#include "base/err.h"
#include "base/htable.h"
#include "otlp/attributes/attribute_rules.h"
#include "otlp/attributes/attribute_tally.h"
#include "otlp/attributes/export_attributes.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seldom do so many run on a node within seconds; 1000 resources take half a megabyte before
 * compression, a seventh of what a request may have. */
#define ATTRIBUTE_PROCESSES_MAX 1000

/* For tally and guard, beside enum sample_attribute. */
#define PROGRAM_ATTRIBUTE 0x100

/* The attributes of processes that are sent. */
struct process_rules {
	enum attribute_preset preset;
	bool has_name; /* or, of ATTRIBUTES_PYROSCOPE, "process" */
	bool has_path;
	bool has_pid;
	bool has_creation_time;
	uint64_t boot_unix_ns; /* when the clock of processes' starts was 0 */
};

struct process_key {
	uint32_t resource; /* the first one that leaves with these attributes */
	uint32_t process; /* of the profile */
	uint32_t pid;
	uint32_t comm; /* string; 0 where the process says a name */
};

struct process_row {
	struct process_key key;
	uint64_t count; /* of its samples */
	/* String by which the guard knows it: path or name; 0: not known, or not wanted */
	uint32_t program;
	uint32_t name; /* string */
	uint32_t group;
	bool is_alone; /* it leaves with its pid, unless attribute_processes_group() joins it */
};

struct attribute_processes {
	const struct profile *profile; /* borrowed */
	struct process_rules rules;
	struct process_row *rows; /* owned */
	size_t nr_rows, cap_rows;
	struct htable index;
	uint32_t *of_sample; /* owned; row of each sample of the profile */
};

/* Determines the attributes of processes that the rules permit. */
void process_rules_init(struct process_rules *rules, const struct attribute_rules *attribute_rules);

/* Returns the maximum number of these attributes in a resource. */
size_t process_rules_max(const struct process_rules *rules);

/* Finds the processes; `first_alike` maps each resource of the profile to the first equal one.
 * Errors: -ENOMEM; done is needed then, too. */
int attribute_processes_init(struct attribute_processes *processes,
			     const struct process_rules *rules, const struct profile *profile,
			     const uint32_t *first_alike) must_check;
void attribute_processes_done(struct attribute_processes *processes);

/* Sets the key of a program for tally and guard; returns false if there is no program. */
bool process_row_key(const struct process_row *process, struct tally_key *ret_key);

/* Makes the groups of labels, once the guard has decided: attributes of `resources`, by the
 * profile's resources, and of processes. Sets the group of each process, and is_alone to what it
 * then is. Errors: -ENOMEM. */
int attribute_processes_group(struct attribute_processes *processes,
			      const struct attribute_tally *tally,
			      const struct group_attributes *resources,
			      struct export_attributes *attributes) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The model that flows through the agent: a profile shaped like OTLP's dictionary.
 *
 * Samples point into tables by index, each distinct thing stands once:
 *
 *	sample ─▶ stack ─▶ locations (leaf first) ─▶ lines (innermost first) ─▶ function ─▶ name
 *	   │                    └──────▶ mapping ─▶ file name, build id
 *	   ├────▶ resource ─▶ attributes: whose CPU time it was
 *	   └────▶ process ─▶ its program, and when it started
 *
 * A location is a place in the code. Where a compiler inlined functions into each other, one place
 * is in several functions at once, and in a line of the source of each.
 *
 * Element 0 of every table is the empty one ("", no mapping, no function, the empty stack, a
 * process of which nothing is known); resource 0 is the host itself. Once sealed (builder.h) a
 * profile never changes and is shared by reference count. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/cleanup.h"
#include "base/intern.h"
#include "profile/profile_type.h"
#include "profile/slots.h"
#include "profile/wait_reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_kind {
	FRAME_NATIVE, /* user space; those behind FRAME_STOP are, too, and more is known of them */
	FRAME_KERNEL,
	FRAME_STOP, /* not code: why the stack ends before its root */
	FRAME_GO,
	FRAME_RUST,
	FRAME_JVM,
	FRAME_V8JS,
	FRAME_CPYTHON,
	FRAME_JIT, /* made at run time by something else */
	FRAME_LABEL, /* not code: the value of a label (view.h); never in what is exported */
};

/* All strings below are numbers in profile.strings.
 *
 * Processes map the same file at different places. To make their frames comparable, a mapping is
 * one segment of the file as its program header has it: it starts at the segment's virtual address
 * (p_vaddr), its offset is where the segment begins in the file (p_offset), and addresses in it are
 * virtual addresses of the file, as addr2line(1) takes them. Where the program headers are not
 * known a mapping is the whole file, from 0 to its length, and addresses are offsets in it. In
 * either case the byte at an address is at `address - start + offset` of the file. */
struct profile_mapping {
	uint64_t start;
	uint64_t limit; /* behind its last byte; 0 for the kernel and for code without a file */
	uint64_t offset;
	uint32_t filename;
	uint32_t build_id; /* lower-case hex of the GNU build id; 0 when the file has none */
	uint32_t go_build_id; /* 0 when the file has none */
	uint32_t htlhash; /* lower-case hex of a hash of the file; 0 when it was not read */
};

struct profile_function {
	uint32_t name; /* as people read it: demangled */
	uint32_t system_name; /* as the symbol table has it */
	uint32_t filename; /* source file; 0 when unknown */
	uint32_t start_line; /* in it; 0 when unknown */
};

struct profile_line {
	uint32_t function;
	uint32_t line; /* of the function's source file; 0 when unknown */
};

struct profile_location {
	uint64_t address; /* in the mapping, or kernel address; of a caller: inside the call
			     instruction, not behind it */
	uint32_t mapping;
	enum frame_kind kind;
	uint32_t first_line; /* index into profile.lines */
	uint32_t nr_lines; /* innermost first; 0 until named, never 0 in a sealed profile */
};

struct profile_stack {
	size_t first; /* index into profile.stack_locations */
	size_t nr; /* leaf first */
};

/* One attribute, named by OpenTelemetry's semantic conventions ("k8s.pod.name"). */
struct profile_attribute {
	uint32_t key;
	uint32_t value;
};

struct profile_resource {
	size_t first; /* index into profile.attributes */
	size_t nr;
};

/* Data of a process besides the names of its threads. Two processes are equal if all fields except
 * seen_ns are. */
struct profile_process {
	uint64_t start_ns; /* since boot; 0: not known */
	uint64_t seen_ns; /* since boot: its last sample */
	uint32_t pid; /* 0: threads of the kernel, which are told apart by name only */
	uint32_t path; /* string: the file of its program; 0 when it is not known */
	/* String: what is behind the last "/" of it, or what stands for that; 0: not known */
	uint32_t name;
};

#define PROFILE_CPU_UNKNOWN UINT32_MAX

/* All fields up to the reason identify a sample: equal ones are joined. */
struct profile_sample {
	uint64_t cgroup_id;
	/* Unix time, within the profile's; 0: not recorded, so equal samples merge */
	uint64_t time_ns;
	uint32_t stack;
	uint32_t resource;
	uint32_t process; /* 0: not known; pid and process_comm may be all the same */
	uint32_t process_comm; /* string */
	uint32_t thread_comm; /* string */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu; /* or PROFILE_CPU_UNKNOWN */
	enum wait_reason reason;
	uint32_t nr_joined; /* samples with a count that were joined to it, with itself */
	uint64_t count; /* how often the timer fired; for other types than CPU: the value */
};

/* Of the fields that identify a sample, which have no gaps. */
#define PROFILE_SAMPLE_KEY_BYTES                                                                   \
	(offsetof(struct profile_sample, reason) + sizeof(((struct profile_sample *)0)->reason))

struct profile {
	struct intern strings;
	struct profile_mapping *mappings; /* this and the following arrays: owned */
	size_t nr_mappings, cap_mappings;
	struct profile_function *functions;
	size_t nr_functions, cap_functions;
	struct profile_line *lines;
	size_t nr_lines, cap_lines;
	struct profile_location *locations;
	size_t nr_locations, cap_locations;
	uint32_t *stack_locations;
	size_t nr_stack_locations, cap_stack_locations;
	struct profile_stack *stacks;
	size_t nr_stacks, cap_stacks;
	struct profile_attribute *attributes;
	size_t nr_attributes, cap_attributes;
	struct profile_resource *resources;
	size_t nr_resources, cap_resources;
	struct profile_process *processes;
	size_t nr_processes, cap_processes;
	struct profile_sample *samples;
	size_t nr_samples, cap_samples;

	uint64_t time_unix_ns; /* start */
	uint64_t duration_ns;
	/* CPU: nanoseconds that a count stands for, 1e9 / Hz; else in its type's unit */
	uint64_t period;
	enum profile_type type;
	/* Of the samples of one Unix second, in which the profile lies; all 0: not known, as in
	 * merged profiles */
	struct slots slots;
	/* Of a view (view.h): stacks have frames of labels, and get none for the process; and they
	 * are turned round, so that the function that ran is the last one. */
	bool is_grouped, is_bottom_up;
	size_t nr_bytes; /* memory, including the builder's indexes */
	unsigned int nr_refs; /* atomic */
};

/* Returns the string with that number; borrowed from the profile. */
static inline const char *profile_string(const struct profile *profile, uint32_t id)
{
	return intern_get(&profile->strings, id);
}

/* Returns the lines of a location, innermost first; borrowed. */
static inline const struct profile_line *profile_location_lines(
	const struct profile *profile, const struct profile_location *location)
{
	return profile->lines + location->first_line;
}

/* Returns the name of a location's innermost function, or "" if it has none yet; borrowed. */
const char *profile_location_name(const struct profile *profile, uint32_t location);

/* Returns the value of a resource's attribute, or NULL; borrowed. */
const char *profile_resource_get(const struct profile *profile, uint32_t resource, const char *key);

/* Returns the period for formats that have one: 0 if the type has none, else 1 if it is not known,
 * as of waits for locks, each of which counts. */
uint64_t profile_period(const struct profile *profile);

/* Returns the sum of all counts. */
uint64_t profile_total(const struct profile *profile);

/* Returns how many samples were taken for this one. Counts of CPU time say it; those of other types
 * are values, such as nanoseconds. */
static inline uint64_t profile_sample_nr_taken(const struct profile *profile,
					       const struct profile_sample *sample)
{
	return profile->type == PROFILE_CPU ? sample->count : sample->nr_joined;
}

/* Returns how many samples were taken for the profile. */
uint64_t profile_nr_taken(const struct profile *profile);

struct profile *profile_ref(struct profile *profile);

/* Frees the profile with the last reference. NULL is fine. */
void profile_unref(struct profile *profile);

DEFINE_FREEP(struct profile, profile_unref)

#endif

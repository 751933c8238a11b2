/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a profile: an add function returns the number of the equal element when there is one.
 *
 * A window is built in three steps, by two threads:
 *	1. the reader adds mappings, locations without names, stacks and samples by cgroup id;
 *	2. the symbolizer names the locations and tells each cgroup's resource;
 *	3. builder_seal() turns it into a profile that never changes again.
 *
 * All add functions: -ENOSPC when the builder's byte limit is used up, -ENOMEM. */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct builder;

/* `max_bytes` bounds all tables, strings and indexes together: about 60 bytes a distinct sample,
 * 40 and 4 a frame a distinct stack, 46 and 8 a line a distinct location. Errors: -ENOMEM. */
int builder_new(size_t max_bytes, struct builder **ret_builder) must_check;
void builder_free(struct builder *builder);
DEFINE_FREEP(struct builder, builder_free)

/* Permits that many more bytes, regardless of the previous limit. */
void builder_set_room(struct builder *builder, size_t bytes);

/* Returns the bytes of tables, strings and indexes together. */
size_t builder_bytes(const struct builder *builder);

/* Returns the profile as built so far; borrowed, valid until the next addition. */
const struct profile *builder_peek(const struct builder *builder);

/* Adds a string. */
int builder_add_string(struct builder *builder, const char *text, uint32_t *ret_id) must_check;

/* Always a new mapping: two files may share a name, and their build ids come later.
 * merge_profile() joins equal ones. */
int builder_add_mapping(struct builder *builder, const struct profile_mapping *mapping,
			uint32_t *ret_id) must_check;

int builder_add_function(struct builder *builder, const struct profile_function *function,
			 uint32_t *ret_id) must_check;

/* Adds a location without lines; those in `location` are ignored. It equals the first location at
 * that place (mapping, address, and whether it is user space, kernel or none), whatever lines that
 * one has. */
int builder_add_location(struct builder *builder, const struct profile_location *location,
			 uint32_t *ret_id) must_check;

/* Adds a location with at least one line; lines are copied. It equals only a location that has the
 * same lines and kind, since code made at run time changes its name between windows. */
int builder_add_named_location(struct builder *builder, const struct profile_location *location,
			       const struct profile_line *lines, size_t nr, uint32_t *ret_id)
	must_check;

/* `locations` are leaf first; the array is copied. */
int builder_add_stack(struct builder *builder, const uint32_t *locations, size_t nr,
		      uint32_t *ret_id) must_check;

/* Asks the CPU to fetch the memory that builder_add_stack() will read first. The tables of a large
 * profile are in none of its caches, so who adds many stacks saves time by asking for some of them
 * before the first one is added. */
void builder_prefetch_stack(const struct builder *builder, const uint32_t *locations, size_t nr);

struct attribute {
	const char *key;
	const char *value; /* borrowed for the call; NULL or "": the attribute is left out */
};

/* Attributes keep their order; two resources are equal when all attributes are. */
int builder_add_resource(struct builder *builder, const struct attribute *attributes, size_t nr,
			 uint32_t *ret_id) must_check;

/* Adds a process. Equal processes become one row with the later seen_ns. A process of zeros is row
 * 0. */
int builder_add_process(struct builder *builder, const struct profile_process *process,
			uint32_t *ret_id) must_check;

/* Updates the last time at which a process was seen. */
void builder_see_process(struct builder *builder, uint32_t process, uint64_t seen_ns);

/* Adds sample->count to the equal sample, or a new one. Without nr_joined it is a single one. */
int builder_add_sample(struct builder *builder, const struct profile_sample *sample) must_check;

/* Does the same for builder_add_sample(). */
void builder_prefetch_sample(const struct builder *builder, const struct profile_sample *sample);

/* Names a location that has no lines yet, and sets what kind of code it is: the kind it has, or a
 * finer one for FRAME_NATIVE. There is at least one line; lines are copied. They take no room if
 * the lines added last end with them. Errors: -ENOSPC, -ENOMEM; then the location still has no
 * lines. */
int builder_set_lines(struct builder *builder, uint32_t location, enum frame_kind kind,
		      const struct profile_line *lines, size_t nr) must_check;

/* Completes a mapping whose file was read after it was added: takes the three build ids of
 * `from`. */
void builder_set_build_ids(struct builder *builder, uint32_t mapping,
			   const struct profile_mapping *from);

/* Moves a location to another mapping, in which the same code has that address. The builder does
 * not find it by its old place any more, nor by its new one: must come after the last
 * builder_add_location(). */
void builder_move_location(struct builder *builder, uint32_t location, uint32_t mapping,
			   uint64_t address);

/* Gives all samples taken in a cgroup their resource; returns how many were taken. Must come after
 * the last builder_add_sample(). */
uint64_t builder_set_resource(struct builder *builder, uint64_t cgroup_id, uint32_t resource);

/* Removes the samples of a cgroup; elements that only they used stay in the other tables. Returns
 * how many were taken. Must come after the last builder_add_sample(). */
uint64_t builder_remove_cgroup(struct builder *builder, uint64_t cgroup_id);

/* Joins the header of a profile before its samples are added: its time range extends the builder's,
 * and an empty builder gets its type and period. Errors: -EINVAL the builder has another type or
 * period. */
int builder_join(struct builder *builder, const struct profile *profile) must_check;

/* Makes merge_profile() omit the times of samples, so that samples that differ only in time are
 * joined. */
void builder_drop_times(struct builder *builder);

/* Returns whether builder_drop_times() was called. */
bool builder_drops_times(const struct builder *builder);

/* Multiplies the counts of all samples. */
void builder_scale(struct builder *builder, uint64_t factor);

/* Sets the time range and period. builder_join() does it by itself. */
void builder_set_time(struct builder *builder, uint64_t time_unix_ns, uint64_t duration_ns,
		      uint64_t period);

/* Turns the samples' times, which are by a clock that showed `base_ns` when the profile began, into
 * Unix time; times outside of the profile are moved to its edge. Must come after builder_set_time()
 * and after the last builder_add_sample(). */
void builder_date_samples(struct builder *builder, uint64_t base_ns);

/* Sets what the samples count, which is PROFILE_CPU by default. builder_join() does it by
 * itself. */
void builder_set_type(struct builder *builder, enum profile_type type);

/* Sets what the stacks of a view are like (struct profile). */
void builder_set_view(struct builder *builder, bool is_grouped, bool is_bottom_up);

/* Returns the profile's counts by time, for the caller to fill in; borrowed.
 * builder_remove_cgroup() takes from them what it removes. */
struct slots *builder_slots(struct builder *builder);

/* Consumes the builder and returns the finished profile with one reference. */
struct profile *builder_seal(struct builder *builder);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A binder with a process table over a directory like /proc, files that are plans (rows_standin.h),
 * and the kernel's maps: what is bound is read back as the BPF unwinder would. */
#ifndef TESTS_UNIT_BINDER_FIXTURE_H
#define TESTS_UNIT_BINDER_FIXTURE_H

#include "base/clock.h"
#include "bpf/shared/frames.h"
#include "pipeline/binder.h"
#include "proc_fixture.h"
#include "process/process_set.h"
#include "slots_fixture.h"

#include <stddef.h>
#include <stdint.h>

#define NOW (2000 * NSEC_PER_SEC) /* of all events and samples */

/* Addresses of mappings in processes, of 4 KB each. */
#define PROGRAM 0x10000
#define LIBRARY 0x20000
#define PLUGIN 0x30000
#define NOWHERE 0x90000
#define PROGRAM_LINE "10000-11000 r-xp 00000000 fe:01 1 /bin/program\n"
#define LIBRARY_LINE "20000-21000 r-xp 00003000 fe:01 2 /lib/library.so\n"
#define PLUGIN_LINE "30000-31000 r-xp 00000000 fe:01 3 /lib/plugin.so\n"

#define RETRY_NS (100 * NSEC_PER_MSEC) /* of the slots */

/* Results of binder_fixture_slot() if there is no slot. */
#define UNBOUND UINT32_MAX
#define HOLE (UINT32_MAX - 1)

/* Their tables have SIZE bytes each. */
extern const struct plan binder_program;
extern const struct plan binder_library;
extern const struct plan binder_plugin;

struct binder_fixture {
	struct proc_fixture proc;
	struct slots_fixture *slots;
	struct unwind_tables tables;
	struct binder binder;
};

/* For cmocka. */
int binder_fixture_set_up(void **state);
int binder_fixture_tear_down(void **state);

/* At most so many bytes of tables; 0: plenty. */
void binder_fixture_start(struct binder_fixture *fixture, size_t max_bytes);

/* Makes a process in /proc: with these maps, and then the files behind them; or
 * with program and library. */
void binder_fixture_put_process(struct binder_fixture *fixture, uint32_t pid, const char *maps);
void binder_fixture_put_file(struct binder_fixture *fixture, uint32_t pid, uint32_t address,
			     struct plan plan);
void binder_fixture_put_usual(struct binder_fixture *fixture, uint32_t pid);

/* A symbolic link in the process's directory. */
void binder_fixture_link(struct binder_fixture *fixture, uint32_t pid, const char *name,
			 const char *target);

/* A sample with a stack of `nr_frames` that ends at an address; with one frame, in the program. */
void binder_fixture_see_stack(struct binder_fixture *fixture, uint32_t pid,
			      enum unwind_result result, uint16_t nr_frames, uint64_t address);
void binder_fixture_see(struct binder_fixture *fixture, uint32_t pid, enum unwind_result result);

void binder_fixture_flush(struct binder_fixture *fixture);

/* Does what the pipeline does at the first sample of a process. */
void binder_fixture_bind(struct binder_fixture *fixture, uint32_t pid);

/* An event: of any kind, without more to say than that, of a process that maps the plugin. */
void binder_fixture_tell(struct binder_fixture *fixture, const struct proc_event *event);
void binder_fixture_tell_kind(struct binder_fixture *fixture, enum proc_event_kind kind,
			      uint32_t pid);
void binder_fixture_tell_mmap(struct binder_fixture *fixture, uint32_t pid);

/* A fork, with what the kernel side does. */
void binder_fixture_fork(struct binder_fixture *fixture, uint32_t parent_pid, uint32_t pid);

/* The process ends and is forgotten. */
void binder_fixture_end(struct binder_fixture *fixture, uint32_t pid);

/* In the map `processes`; 0: none. */
uint64_t binder_fixture_binding(const struct binder_fixture *fixture, uint32_t pid);

/* Returns where the BPF unwinder would look for the code at an address. */
struct mapping_range binder_fixture_range(const struct binder_fixture *fixture, uint32_t pid,
					  uint64_t address);
uint32_t binder_fixture_slot(const struct binder_fixture *fixture, uint32_t pid, uint64_t address);

/* Waits for the tables; whether the code at an address has one. */
bool binder_fixture_is_loaded(const struct binder_fixture *fixture, uint32_t pid, uint64_t address);

/* Fails when it is not known. */
struct process *binder_fixture_find(const struct binder_fixture *fixture, uint32_t pid);

uint64_t binder_fixture_nr_slots(const struct binder_fixture *fixture);
struct mapping_tables_stats binder_fixture_mapping_stats(const struct binder_fixture *fixture);

#endif

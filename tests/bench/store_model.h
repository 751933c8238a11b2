/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a made node: which threads run, and in which stacks.
 *
 * A sample is a pair of a thread and a stack. Pairs are drawn by a Pitman-Yor process, which has
 * what recordings of real nodes have: a few pairs take most samples, most pairs occur once, and new
 * ones never cease to come, as a power of the number of samples. A new stack leaves one that its
 * program already has some frames above the leaf.
 *
 * All hours look alike and have their frequent stacks in common: the first hour is kept, and each
 * further one continues from there. */
#ifndef BENCH_STORE_MODEL_H
#define BENCH_STORE_MODEL_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct model_params {
	const char *name;
	double theta, discount; /* of the process */
	double repeats; /* share of samples whose pair was sampled in the same second already */
	double known_stacks; /* share of new pairs whose stack another thread has */
	double branch_frames; /* mean of the frames that a new stack adds */
	double new_functions; /* how many there are, by the root of the number of frames */
	uint32_t min_depth, max_depth; /* of programs' usual stacks */
};

/* Calibrated on two views of one recording: builds, browsers, servers and scripts, 2,479 samples a
 * second for 240 s. "hard" kept broken stacks and unknown addresses as they were, "light" joined
 * the latter by file. Returns NULL for another name. */
const struct model_params *model_params_find(const char *name);

#define MODEL_NR_PODS 100
#define MODEL_NR_PROGRAMS 61 /* number 0 is the kernel */
#define MODEL_NR_SHORT 20 /* threads whose process lives some seconds only */
#define MODEL_NR_THREADS (MODEL_NR_PODS * 6 + 60 + MODEL_NR_SHORT)
#define MODEL_NR_MODULES 2700 /* ELF files */

struct model_pair {
	uint32_t thread;
	uint32_t node; /* leaf of the stack */
};

struct model_node {
	uint32_t parent; /* 0: none */
	uint32_t function;
};

struct model_function {
	uint32_t program;
	uint32_t number; /* among all */
};

struct model;

/* Errors: -ENOMEM. */
int model_new(const struct model_params *params, struct model **ret_model) must_check;
void model_free(struct model *model);
DEFINE_FREEP(struct model, model_free)

/* Begins a second. To be called before its samples are drawn. */
void model_begin_second(struct model *model);

/* Draws a sample. Errors: -ENOSPC there is no room for another stack. */
int model_draw(struct model *model, struct model_pair *ret_pair) must_check;

/* Ends an hour. */
void model_end_hour(struct model *model);

struct model_node model_node(const struct model *model, uint32_t node);
struct model_function model_function(const struct model *model, uint32_t function);
uint32_t model_nr_nodes(const struct model *model);
uint32_t model_program_of(uint32_t thread);

/* Returns a number from 0 on, and below `below`. */
uint32_t model_random(struct model *model, uint32_t below);

/* What was drawn up to now. */
struct model_census {
	size_t nr_samples, nr_pairs, nr_single_pairs, nr_stacks, nr_nodes, nr_functions;
	double entropy_bits; /* of the stacks */
};

int model_count(const struct model *model, struct model_census *ret_census) must_check;

/* Allocates zeroed memory for the load, apart from the record's, so that the record's can be
 * measured. Pages are backed when they are first written. Returns NULL without memory. */
void *model_alloc(size_t bytes);
void model_dealloc(void *memory, size_t bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "symbol/symbol_jobs.c" /* NOLINT(bugprone-suspicious-include) */

void inside_set_limits(struct symbol_jobs *jobs, const struct worker_limits *limits)
{
	jobs->limits = (struct symbol_limits){ *limits, *limits, *limits, *limits };
}

void inside_set_table_limits(struct symbol_jobs *jobs, const struct worker_limits *limits)
{
	jobs->limits.table = *limits;
}

struct cpu_budget *inside_lines_budgets(struct symbol_jobs *jobs)
{
	return jobs->lines_budgets;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a directory that a test made, with all that is in it. */
#ifndef TESTS_UNIT_REMOVE_TREE_H
#define TESTS_UNIT_REMOVE_TREE_H

#include <ftw.h>
#include <stdio.h>

static inline int remove_tree_entry(const char *path, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Links are not followed. What cannot be removed stays. */
static inline void remove_tree(const char *path)
{
	nftw(path, remove_tree_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#endif

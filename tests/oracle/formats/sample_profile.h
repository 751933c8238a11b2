/* SPDX-License-Identifier: Apache-2.0 */
/* A small profile with one of everything, which encoders are checked with. What is in it is
 * written down a second time, on purpose, in the check_….py of each format.
 *
 *	resource                      process   thread    stack, root first                     count
 *	pod web-0, container nginx    nginx     nginx     main, serve with parse inlined,
 *							  do_syscall_64, vfs_read		7
 *	the same, tid 101 on cpu 1    nginx     nginx     the same                              5
 *	pod db-0, container postgres  postgres  checkp…   main, [stack truncated here]                3
 *	host                          kswapd0   kswapd0   kthread, kswapd                       2
 *	host                          api       api       Go, with one and two inlined in it    10
 *	host                          parser    parser    Rust, with two inlined in it          8
 *	host                          java      java      native, JVM                           6
 *	host                          node      node      native, JavaScript                    5
 *	host                          python3   python3   native, JIT                           4
 */
#ifndef TESTS_ORACLE_SAMPLE_PROFILE_H
#define TESTS_ORACLE_SAMPLE_PROFILE_H

#include "profile/profile.h"

/* One reference, or NULL for want of memory. */
struct profile *sample_profile(void);

#endif

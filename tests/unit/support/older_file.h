/* SPDX-License-Identifier: Apache-2.0 */
/* Files of records as older versions of Flamelet wrote them. */
#ifndef TESTS_UNIT_OLDER_FILE_H
#define TESTS_UNIT_OLDER_FILE_H

/* Turns a closed file into one of version 5 or older: removes the reasons from its label sets, then
 * runs the SQL, which sets the version and removes what that one lacks. */
void older_file_make(const char *path, const char *sql);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The origin of a profile, as shown in pictures and files. */
#ifndef PROFILE_CAPTION_H
#define PROFILE_CAPTION_H

/* All borrowed; only the subject and the note may be NULL. */
struct caption {
	const char *subject; /* "whole machine"; NULL: unknown */
	const char *title; /* "the whole machine, 10 s at 99 Hz" */
	const char *subtitle; /* command line, host, kernel, version */
	const char *note; /* sentences about what it lacks; NULL: nothing */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a picture or file says about where it comes from. */
#ifndef PROFILE_CAPTION_H
#define PROFILE_CAPTION_H

/* All borrowed; none but the subject may be NULL. */
struct caption {
	const char *subject; /* "whole machine"; NULL: it is not told */
	const char *title; /* "whole machine, 10 s at 99 Hz" */
	const char *subtitle; /* command line, host, kernel, version */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a container image's name: a pure function over text. */
#ifndef K8S_IMAGE_NAME_H
#define K8S_IMAGE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Pieces of the text they were split from; not NUL-terminated. */
struct image_name {
	const char *name; /* "registry:5000/team/web" */
	size_t name_len;
	const char *tag; /* "1.27"; of length 0 when there is none */
	size_t tag_len;
};

/* Splits "NAME[:TAG][@DIGEST]". Any text has a name, if only an empty one. */
struct image_name image_name_split(const char *image);

/* Whether it is but the ID of an image, as runtimes say of one whose tag was moved to another:
 * "sha256:<64 hex digits>", or the digits alone. */
bool image_name_is_id(const char *image);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a container image's name. */
#ifndef K8S_IMAGE_NAME_H
#define K8S_IMAGE_NAME_H

#include "base/strview.h"

#include <stdbool.h>

struct image_name {
	struct strview name; /* "registry:5000/team/web" */
	struct strview tag; /* "1.27"; of length 0 when there is none */
};

/* Splits "NAME[:TAG][@DIGEST]" into parts of the text. The name may be empty. */
struct image_name image_name_split(const char *image);

/* Returns whether the text is only the ID of an image: "sha256:<64 hex digits>", or the digits
 * alone. Runtimes report it for an image whose tag has moved to another one. */
bool image_name_is_id(const char *image);

#endif

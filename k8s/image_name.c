/* SPDX-License-Identifier: Apache-2.0 */
/* A colon may also separate a registry's host and port: "registry:5000/team/web". The colon before
 * a tag comes after the last slash. */
#include "k8s/image_name.h"

#include "base/hex.h"

#include <stdint.h>
#include <string.h>

#define ID_PREFIX "sha256:"
#define ID_HEX 64

struct image_name image_name_split(const char *image)
{
	struct strview rest = strview_of(image, SIZE_MAX), name, last;

	(void)strview_next(&rest, '@', &name);
	struct strview tag = strview_behind_last(name, '/');
	(void)strview_next(&tag, ':', &last);
	if (!tag.text)
		return (struct image_name){ name, { "", 0 } };
	return (struct image_name){ strview_head(name, name.len - tag.len - 1), tag };
}

bool image_name_is_id(const char *image)
{
	if (strncmp(image, ID_PREFIX, strlen(ID_PREFIX)) == 0)
		image += strlen(ID_PREFIX);
	return hex_is(image, ID_HEX);
}

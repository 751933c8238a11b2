/* SPDX-License-Identifier: Apache-2.0 */
/* A colon may end a registry's host, too: "registry:5000/team/web". A tag's is behind the last
 * slash. */
#include "k8s/image_name.h"

#include "base/hex.h"

#include <string.h>

#define ID_PREFIX "sha256:"
#define ID_HEX 64

struct image_name image_name_split(const char *image)
{
	size_t len = strcspn(image, "@");
	const char *end = image + len;
	const char *slash = memrchr(image, '/', len);
	const char *last = slash ? slash + 1 : image;
	const char *colon = memchr(last, ':', (size_t)(end - last));

	if (!colon)
		return (struct image_name){ image, len, end, 0 };
	return (struct image_name){ image, (size_t)(colon - image), colon + 1,
				    (size_t)(end - colon - 1) };
}

bool image_name_is_id(const char *image)
{
	if (strncmp(image, ID_PREFIX, strlen(ID_PREFIX)) == 0)
		image += strlen(ID_PREFIX);
	return hex_is(image, ID_HEX);
}

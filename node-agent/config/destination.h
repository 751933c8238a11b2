/* SPDX-License-Identifier: Apache-2.0 */
/* The options of one destination of profiles. */
#ifndef CONFIG_DESTINATION_H
#define CONFIG_DESTINATION_H

#include "base/http_client.h"
#include "config/option_list.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum option_exporter {
	OPTION_EXPORTER_OTLP,
	OPTION_EXPORTER_PYROSCOPE, /* Pyroscope's own push, over HTTP */
};

/* OTLP's transports. */
enum option_protocol {
	OPTION_PROTOCOL_HTTP,
	OPTION_PROTOCOL_GRPC,
};

enum option_preset {
	OPTION_PRESET_STANDARD,
	OPTION_PRESET_PYROSCOPE,
};

#define OPTION_SAMPLE_ATTRIBUTES_PRESET UINT_MAX /* those of the preset */

/* Strings are owned; NULL means that the option is not given. */
struct destination {
	/* http:// or https://. With gRPC the scheme says only whether to use TLS, and there is no
	 * path. */
	char *endpoint;
	bool is_plain; /* use no TLS for gRPC to HOST:PORT; ignored when the endpoint is a URL */
	bool endpoint_is_full; /* use the URL as it is, without adding OTLP's path */
	enum option_exporter exporter;
	enum option_protocol protocol;
	bool compress; /* gzip */
	struct string_list headers; /* "Name: value"; metadata with gRPC */
	char *header_file; /* more headers; it is read for each request */
	char *tenant;
	char *token_file; /* bearer token */
	char *ca_file; /* NULL: the system's CA certificates */
	char *client_cert_file, *client_key_file; /* both or neither */
	enum http_verify verify;
	uint64_t timeout_ns; /* of one request */

	/* The attributes that are sent. */
	enum option_preset preset;
	struct string_list excluded_attributes; /* keys; a "*" at the end matches any rest */
	/* A mask: 1 thread.name, 2 cpu.logical_number, 4 flamelet.cgroup.id, 8 thread.id,
	 * 16 process.pid, 32 container.id, 64 flamelet.wait.reason; or
	 * OPTION_SAMPLE_ATTRIBUTES_PRESET. */
	unsigned int sample_attributes;
	uint32_t attribute_values_max; /* distinct values per sample attribute; 0: the preset's */
	/* "key=value", no key twice; in addition to those of struct options. */
	struct string_list resource_attributes;

	bool timestamps; /* OTLP: send the time of each sample */
	bool original_payload; /* OTLP: send each profile's pprof along with it */
	uint64_t request_max; /* bytes before compression */
};

#endif

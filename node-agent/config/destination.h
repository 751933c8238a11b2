/* SPDX-License-Identifier: Apache-2.0 */
/* One destination of profiles: where it is, how to speak to it, and what it gets. */
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

#define OPTION_SAMPLE_ATTRIBUTES_PRESET UINT_MAX /* whatever the preset has */

/* Strings are owned; NULL: not given. */
struct destination {
	char *endpoint; /* http:// or https://; with gRPC they mean without and with TLS, and there is no path */
	bool is_plain; /* gRPC to HOST:PORT has no TLS; without effect on URLs */
	bool endpoint_is_full; /* use the URL as it is, without adding OTLP's path */
	enum option_exporter exporter;
	enum option_protocol protocol;
	bool compress; /* gzip */
	struct string_list headers; /* "Name: value"; metadata with gRPC */
	char *header_file; /* more of them, read for each request */
	char *tenant;
	char *token_file; /* bearer token */
	char *ca_file; /* NULL: the system's */
	char *client_cert_file, *client_key_file; /* both or neither */
	enum http_verify verify;
	uint64_t timeout_ns; /* of one request */

	/* Which attributes leave. */
	enum option_preset preset;
	struct string_list excluded_attributes; /* keys; "*" at the end stands for any end */
	unsigned int
		sample_attributes; /* mask: 1 thread.name, 2 cpu.logical_number, 4 flamelet.cgroup.id,
				    * 8 thread.id, 16 process.pid, 32 container.id */
	uint32_t attribute_values_max; /* of one attribute of samples; 0: the preset's */
	/* "key=value", no key twice: besides those for all destinations. */
	struct string_list resource_attributes;

	bool timestamps; /* OTLP: samples say when they were taken */
	bool original_payload; /* OTLP: each profile carries its pprof */
	uint64_t request_max; /* bytes, not compressed */
};

#endif

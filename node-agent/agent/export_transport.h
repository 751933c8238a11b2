/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the options of a destination to those of otlp/transport. */
#ifndef AGENT_EXPORT_TRANSPORT_H
#define AGENT_EXPORT_TRANSPORT_H

#include "config/destination.h"
#include "otlp/transport/protocol.h"
#include "otlp/transport/transport_opts.h"

/* Returns the protocol of a destination. Its option otlp-protocol is only for OTLP. */
static inline enum transport_protocol export_protocol(const struct destination *destination)
{
	if (destination->exporter == OPTION_EXPORTER_PYROSCOPE)
		return TRANSPORT_PYROSCOPE;
	return destination->protocol == OPTION_PROTOCOL_GRPC ? TRANSPORT_OTLP_GRPC
							     : TRANSPORT_OTLP_HTTP;
}

/* Returns the options of the transport to a destination, which borrow the strings. */
static inline struct transport_opts export_transport_opts(const struct destination *destination)
{
	return (struct transport_opts){
		.protocol = export_protocol(destination),
		.endpoint = destination->endpoint,
		.endpoint_is_full = destination->endpoint_is_full,
		.headers = (const char *const *)destination->headers.items,
		.nr_headers = destination->headers.nr,
		.tenant = destination->tenant,
		.header_file = destination->header_file,
		.token_file = destination->token_file,
		.ca_file = destination->ca_file,
		.client_cert_file = destination->client_cert_file,
		.client_key_file = destination->client_key_file,
		.verify = destination->verify,
		.compress = destination->compress,
		.timeout_ns = destination->timeout_ns,
	};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers of opentelemetry-proto 1.10 (and 1.11, which is the same on the wire), as far as we
 * write them: opentelemetry/proto/profiles/v1development/profiles.proto and its collector, common
 * and resource files. Releases before 1.10 number Sample differently. */
#ifndef OTLP_ENCODE_OTLP_FIELDS_H
#define OTLP_ENCODE_OTLP_FIELDS_H

enum export_request_field {
	EXPORT_REQUEST_RESOURCE_PROFILES = 1,
	EXPORT_REQUEST_DICTIONARY = 2,
};

enum export_response_field { EXPORT_RESPONSE_PARTIAL_SUCCESS = 1 };

enum partial_success_field {
	PARTIAL_SUCCESS_REJECTED_PROFILES = 1,
	PARTIAL_SUCCESS_ERROR_MESSAGE = 2,
};

/* google/rpc/status.proto, google/protobuf/any.proto, google/rpc/error_details.proto,
 * google/protobuf/duration.proto */
enum rpc_status_field { RPC_STATUS_MESSAGE = 2, RPC_STATUS_DETAILS = 3 };

enum any_field { ANY_TYPE_URL = 1, ANY_VALUE = 2 };

enum retry_info_field { RETRY_INFO_DELAY = 1 };

enum duration_field { DURATION_SECONDS = 1, DURATION_NANOS = 2 };

enum resource_profiles_field {
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	RESOURCE_PROFILES_SCHEMA_URL = 3,
};

enum resource_field { RESOURCE_ATTRIBUTES = 1 };

enum scope_profiles_field { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES = 2 };

enum scope_field { SCOPE_NAME = 1, SCOPE_VERSION = 2 };

enum key_value_field { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };

enum any_value_field { ANY_VALUE_STRING = 1, ANY_VALUE_INT = 3 };

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_PROFILE_ID = 7,
	PROFILE_ORIGINAL_PAYLOAD_FORMAT = 9,
	PROFILE_ORIGINAL_PAYLOAD = 10,
};

enum value_type_field { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };

enum sample_field {
	SAMPLE_STACK_INDEX = 1,
	SAMPLE_ATTRIBUTE_INDICES = 2,
	SAMPLE_VALUES = 4,
	SAMPLE_TIMESTAMPS = 5,
};

enum mapping_field {
	MAPPING_MEMORY_START = 1,
	MAPPING_MEMORY_LIMIT = 2,
	MAPPING_FILE_OFFSET = 3,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTE_INDICES = 5,
};

enum stack_field { STACK_LOCATION_INDICES = 1 };

enum location_field {
	LOCATION_MAPPING_INDEX = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3,
	LOCATION_ATTRIBUTE_INDICES = 4,
};

enum line_field { LINE_FUNCTION_INDEX = 1, LINE_LINE = 2 };

enum function_field {
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILENAME = 3,
	FUNCTION_START_LINE = 4,
};

enum key_value_and_unit_field { KEY_VALUE_AND_UNIT_KEY = 1, KEY_VALUE_AND_UNIT_VALUE = 2 };

#endif

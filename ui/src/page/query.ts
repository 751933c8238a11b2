// SPDX-License-Identifier: Apache-2.0
/* What the server is asked for at a place of the record. */
import type { Place } from '../model/record/place.ts';
import type { Range } from '../model/record/range.ts';
import { withLabel } from '../model/record/selector.ts';
import type { Parameters } from './api.ts';

/** As api/v1/info has it. */
export interface Info {
	version: string;
	now: number;
	hosts: string[];
	first: number;
	end: number;
	newest: number;
	types: string[];
	warnings: string[];
	files: { path: string; folded: number; min_count: number; lost: number; first: number; end: number }[];
}

export function selectorOf(place: Place): string {
	return withLabel(place.q, 'host', place.host);
}

/** The range and what is chosen of it. */
export function samplesQuery(place: Place, range: Range): Parameters {
	return { from: range.from, to: range.to, q: selectorOf(place), type: place.type };
}

/** The same, compared with another range if one is chosen. */
export function flameQuery(place: Place, range: Range): Parameters {
	const query = samplesQuery(place, range);
	if (!place.base)
		return query;
	const q = place.baseQ || place.q;
	const host = place.baseHost || place.host;
	return {
		...query, base_from: place.base.from, base_to: place.base.to,
		base_q: place.baseQ || place.baseHost ? withLabel(q, 'host', host) : '',
	};
}

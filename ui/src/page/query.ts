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

const TYPE_TEXTS: Record<string, string> = {
	cpu: 'CPU', off_cpu: 'waits', delay: 'locks', contentions: 'waits for locks',
	rss_growth: 'memory growth', alloc_space: 'allocations', alloc_objects: 'allocated objects',
	inuse_space: 'heap in use', inuse_objects: 'objects in use',
	irq: 'interrupts',
};

const ZERO_TEXTS: Record<string, [string, string][]> = {
	cpu: [['0 s', 'CPU time'], ['0.00', 'CPUs busy on average'], ['0', 'samples']],
	contentions: [['0', 'waits']],
	rss_growth: [['0 B', 'of growth']],
	alloc_space: [['0 B', 'allocated']],
	alloc_objects: [['0', 'objects']],
	inuse_space: [['0 B', 'in use']],
	inuse_objects: [['0', 'objects']],
	irq: [['0 s', 'in interrupts']],
};

/** The numbers of a selection without samples, and what they are. */
export function zerosOfType(type: string): [string, string][] {
	return ZERO_TEXTS[type || 'cpu'] ?? [['0 s', 'of all threads']];
}

/** What people call a type of profiles. */
export function textOfType(type: string): string {
	return TYPE_TEXTS[type] ?? type;
}

/** The type of the samples that are shown: that of the place, or the first one that the record has. */
export function typeOf(place: Place, info: Info): string {
	return place.type || (info.types[0] ?? '');
}

export function selectorOf(place: Place): string {
	return withLabel(place.q, 'host', place.host);
}

/** The range and what is chosen of it, of CPU time. */
export function cpuQuery(place: Place, range: Range): Parameters {
	return { from: range.from, to: range.to, q: selectorOf(place) };
}

/** The same of the chosen type, compared with another range if one is chosen. */
export function flameQuery(place: Place, range: Range): Parameters {
	const query = { ...cpuQuery(place, range), type: place.type };
	if (!place.base)
		return query;
	const q = place.baseQ || place.q;
	const host = place.baseHost || place.host;
	return {
		...query, base_from: place.base.from, base_to: place.base.to,
		base_q: place.baseQ || place.baseHost ? withLabel(q, 'host', host) : '',
	};
}

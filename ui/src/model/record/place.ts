// SPDX-License-Identifier: Apache-2.0
/* What of a record is shown, and its text in the URL's fragment. The fragment may come from
 * anybody. */
import { whole } from './range.ts';
import type { Range } from './range.ts';

export type View = 'flame' | 'apps' | 'findings' | 'events';
/** What the timeline shows: the kernel's counters, a map, or a label; '': what is best for the record. */
export type Lines = string;

export interface Place {
	/** Null: the newest minutes. */
	range: Range | null;
	/** Of the timeline; null: all. */
	window: Range | null;
	host: string;
	q: string;
	type: string;
	/** What it is compared with. */
	base: Range | null;
	baseQ: string;
	baseHost: string;
	view: View;
	lines: Lines;
	follows: boolean;
	hasTracks: boolean;
}

export const VIEWS: readonly View[] = ['flame', 'apps', 'findings', 'events'];
export const NO_PLACE: Place = {
	range: null, window: null, host: '', q: '', type: '', base: null, baseQ: '', baseHost: '',
	view: 'flame', lines: '', follows: false, hasTracks: true,
};

export const PLACE_NAMES: ReadonlySet<string> = new Set([
	'from', 'to', 'window', 'host', 'q', 'type', 'base_from', 'base_to', 'base_q', 'base_host', 'view', 'lines',
	'follow', 'tracks',
]);

const TEXT_MAX = 4000;
const TIME_MAX = 1e11;

function rangeOf(from: string | null, to: string | null): Range | null {
	const numbers = [from, to].map((text) => (text && /^\d{1,11}(\.\d+)?$/.test(text) ? Number(text) : NaN));
	const [a, b] = numbers as [number, number];
	return a >= 0 && b > a && b < TIME_MAX ? whole(a, b) : null;
}

export function placeOf(fragment: string): Place {
	const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
	const get = (name: string) => parameters.get(name);
	const text = (name: string) => (get(name) ?? '').slice(0, TEXT_MAX);
	const [from, to] = text('window').split('-');
	return {
		range: rangeOf(get('from'), get('to')),
		window: rangeOf(from ?? null, to ?? null),
		host: text('host'),
		q: text('q'),
		type: text('type'),
		base: rangeOf(get('base_from'), get('base_to')),
		baseQ: text('base_q'),
		baseHost: text('base_host'),
		view: VIEWS.find((view) => view === get('view')) ?? 'flame',
		lines: text('lines'),
		follows: get('follow') === '1',
		hasTracks: get('tracks') !== '0',
	};
}

export function textOfPlace(place: Place): string {
	const out = new URLSearchParams();
	const put = (name: string, value: string | number | null | undefined, usual = '') => {
		if (value !== null && value !== undefined && value !== usual)
			out.append(name, String(value));
	};
	put('from', place.range?.from);
	put('to', place.range?.to);
	put('window', place.window && `${place.window.from}-${place.window.to}`);
	put('host', place.host);
	put('q', place.q);
	put('type', place.type);
	put('base_from', place.base?.from);
	put('base_to', place.base?.to);
	put('base_q', place.baseQ);
	put('base_host', place.baseHost);
	put('view', place.view, 'flame');
	put('lines', place.lines);
	put('follow', place.follows ? '1' : '');
	put('tracks', place.hasTracks ? '' : '0');
	return out.toString();
}

// SPDX-License-Identifier: Apache-2.0
/* What is shown, and its text in the URL's fragment, so that a link, a reload and "back" show it
 * again. The fragment may come from anybody: what it names need not exist. */
import type { Palette } from './colors.ts';
import type { Side } from './layout.ts';
import type { Kernel, Profile } from './profile.ts';
import { NO_SEARCH } from './search.ts';
import type { Search } from './search.ts';
import type { LabelChoice, Refinement } from './selection.ts';
import type { Column, Order } from './table.ts';

export type Tab = 'graph' | 'table' | 'both' | 'calls';
export type Theme = 'auto' | 'light' | 'dark';

/** A part of a tree that fills the width: a box, or any span as shares of the whole. */
export interface Zoom {
	/** 0: the tree, or the callees; 1: the callers. */
	part: 0 | 1;
	node: number;
	/** Null: just the box. */
	span: [number, number] | null;
}

export const NO_ZOOM: Zoom = { part: 0, node: 0, span: null };

export interface State extends Refinement {
	bottomUp: boolean;
	/** The root is at the bottom. */
	isFlipped: boolean;
	/** A function whose callers and callees are shown; '': none. */
	pivot: string;
	/** Null: processes, which stand at the other end of stacks that are turned round. */
	group: string[] | null;
	zoom: Zoom;
	search: Search;
	side: Side;
	palette: Palette;
	tab: Tab;
	by: string;
	order: Order;
	theme: Theme;
	hasFacets: boolean;
}

const LIST_MAX = 100;
const TEXT_MAX = 5000;

export function initialState(profile: Profile): State {
	const { bottomUp, kernel, group } = profile.view;
	return {
		bottomUp,
		isFlipped: false,
		pivot: '',
		group: group.length > 0 ? group : null,
		kernel,
		hide: [],
		drop: [],
		only: [],
		labels: {},
		zoom: NO_ZOOM,
		search: NO_SEARCH,
		side: 'after',
		palette: 'red-blue',
		tab: 'graph',
		by: 'function',
		order: { column: profile.comparison ? 'change' : 'self', isDescending: true },
		theme: 'auto',
		hasFacets: false,
	};
}

function zoomText({ part, node, span }: Zoom): string {
	const box = `${part ? 'c' : ''}${node}`;
	return span ? `${box}:${span.map((share) => Number(share.toPrecision(7))).join('-')}` : box;
}

function zoomOf(text: string): Zoom {
	const found = /^(c?)(\d{1,9})(?::([\d.e-]+?)-([\d.]+(?:e-\d+)?))?$/.exec(text);
	if (!found)
		return NO_ZOOM;
	const span: [number, number] | null = found[3] ? [Number(found[3]), Number(found[4])] : null;
	const isSpan = span !== null && span[0] >= 0 && span[1] <= 1 && span[1] - span[0] > 1e-12;
	return { part: found[1] ? 1 : 0, node: Number(found[2]), span: isSpan ? span : null };
}

function searchText(search: Search): string {
	return (search.matchesCase ? 'c' : '') + (search.wholeWord ? 'w' : '') + (search.isRegex ? 'r' : '');
}

/** The fragment of a state, without what is as in `initial`. */
export function fragmentOf(state: State, initial: State): string {
	const out = new URLSearchParams();
	const put = (name: string, value: string, usual: string) => {
		if (value !== usual)
			out.append(name, value);
	};
	put('bottomup', state.bottomUp ? '1' : '0', initial.bottomUp ? '1' : '0');
	put('flip', state.isFlipped ? '1' : '0', '0');
	put('pivot', state.pivot, '');
	put('group', groupText(state.group), groupText(initial.group));
	put('kernel', state.kernel, initial.kernel);
	for (const name of ['hide', 'drop', 'only'] as const)
		state[name].forEach((value) => out.append(name, value));
	for (const [label, choice] of Object.entries(state.labels)) {
		choice.include.forEach((word) => out.append(`label.${label}`, word));
		choice.exclude.forEach((word) => out.append(`not.${label}`, word));
	}
	put('zoom', zoomText(state.zoom), '0');
	put('search', state.search.text, '');
	put('mode', searchText(state.search), '');
	put('width', state.side, 'after');
	put('palette', state.palette, 'red-blue');
	put('tab', state.tab, 'graph');
	put('by', state.by, 'function');
	put('sort', orderText(state.order), orderText(initial.order));
	put('theme', state.theme, 'auto');
	put('labels', state.hasFacets ? '1' : '0', '0');
	return out.toString();
}

function orderText({ column, isDescending }: Order): string {
	return (isDescending ? '-' : '') + column;
}

function groupText(group: string[] | null): string {
	return group === null ? 'process' : group.join(',');
}

function oneOf<T extends string>(values: readonly T[], text: string | null, usual: T): T {
	return values.find((value) => value === text) ?? usual;
}

function listOf(parameters: URLSearchParams, name: string): string[] {
	return [...new Set(parameters.getAll(name))].slice(0, LIST_MAX).map((text) => text.slice(0, TEXT_MAX));
}

function labelsOf(parameters: URLSearchParams, profile: Profile): Record<string, LabelChoice> {
	const labels: Record<string, LabelChoice> = {};
	for (const { name } of profile.labels) {
		const include = listOf(parameters, `label.${name}`);
		const exclude = listOf(parameters, `not.${name}`);
		if (include.length + exclude.length > 0)
			labels[name] = { include, exclude };
	}
	return labels;
}

function groupOf(text: string | null, profile: Profile, usual: string[] | null): string[] | null {
	if (text === null)
		return usual;
	if (text === 'process')
		return null;
	return text.split(',').filter((name) => profile.labels.some((label) => label.name === name));
}

function orderOf(text: string | null, usual: Order): Order {
	const columns: readonly Column[] = ['name', 'self', 'total', 'before', 'change'];
	const column = columns.find((name) => name === text?.replace('-', ''));
	return column ? { column, isDescending: text!.startsWith('-') } : usual;
}

export function stateOf(fragment: string, profile: Profile): State {
	const initial = initialState(profile);
	const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
	const get = (name: string) => parameters.get(name);
	const flag = (name: string, usual: boolean) => (get(name) === null ? usual : get(name) === '1');
	const mode = get('mode') ?? '';
	return {
		bottomUp: flag('bottomup', initial.bottomUp),
		isFlipped: flag('flip', false),
		pivot: (get('pivot') ?? '').slice(0, TEXT_MAX),
		group: groupOf(get('group'), profile, initial.group),
		kernel: oneOf<Kernel>(['all', 'only', 'hide'], get('kernel'), initial.kernel),
		hide: listOf(parameters, 'hide'),
		drop: listOf(parameters, 'drop'),
		only: listOf(parameters, 'only'),
		labels: labelsOf(parameters, profile),
		zoom: zoomOf(get('zoom') ?? ''),
		search: {
			text: (get('search') ?? '').slice(0, TEXT_MAX),
			matchesCase: mode.includes('c'),
			wholeWord: mode.includes('w'),
			isRegex: mode.includes('r'),
		},
		side: profile.comparison ? oneOf<Side>(['after', 'before'], get('width'), 'after') : 'after',
		palette: oneOf<Palette>(['red-blue', 'orange-blue'], get('palette'), 'red-blue'),
		tab: oneOf<Tab>(['graph', 'table', 'both', 'calls'], get('tab'), 'graph'),
		by: get('by') ?? 'function',
		order: orderOf(get('sort'), initial.order),
		theme: oneOf<Theme>(['auto', 'light', 'dark'], get('theme'), 'auto'),
		hasFacets: flag('labels', false),
	};
}

// SPDX-License-Identifier: Apache-2.0
/* The colours of boxes: those of profile/flame_color.c and profile/diff_svg.c. */
import type { Change } from './diff.ts';
import type { Item } from './profile.ts';

type Rgb = [number, number, number];

/* Shades of a kind lie between two colours. */
const KINDS: Record<string, { legend: string; from: Rgb; to: Rgb }> = {
	process: { legend: 'process', from: [0x93, 0xd6, 0xb0], to: [0xbb, 0xe5, 0xb3] },
	label: { legend: 'label', from: [0xd3, 0xb5, 0xf0], to: [0xe3, 0xd0, 0xf7] },
	native: { legend: 'user space', from: [0xf9, 0xa8, 0x6f], to: [0xfd, 0xdb, 0x7c] },
	kernel: { legend: 'kernel', from: [0x8f, 0xb4, 0xf2], to: [0x9b, 0xd8, 0xee] },
	go: { legend: 'Go', from: [0x6f, 0xcf, 0xc9], to: [0xa5, 0xe3, 0xd9] },
	rust: { legend: 'Rust', from: [0xe8, 0x8f, 0x7a], to: [0xf2, 0xb0, 0x9b] },
	jvm: { legend: 'JVM', from: [0xf3, 0xa6, 0xc0], to: [0xf7, 0xc0, 0xd2] },
	javascript: { legend: 'JavaScript', from: [0xd8, 0xd4, 0x6a], to: [0xe9, 0xe7, 0x94] },
	python: { legend: 'Python', from: [0xa9, 0xb9, 0xe8], to: [0xc9, 0xc4, 0xf0] },
	jit: { legend: 'other JIT', from: [0xd2, 0xb8, 0x9c], to: [0xe0, 0xcd, 0xb8] },
	truncated: { legend: 'truncated stack', from: [0xc3, 0xc8, 0xd1], to: [0xd9, 0xdc, 0xe2] },
};
const ROOT: Rgb = [0xe5, 0xe7, 0xeb];
const GREY: Rgb = [0xe9, 0xea, 0xed];
const DARK_FACTOR = 0.78;
const COLOR_EXPONENT = 0.7; // makes small changes visible
const PARTIAL_MAX = 0.75; // the strongest colours are for what is new or gone
const LEGEND_POSITION = 0.4;

export type Palette = 'red-blue' | 'orange-blue';

/* A small change has nearly the first colour and a large one the second. People who cannot tell red
 * from grey can tell the second palette's colours. */
const CHANGES: Record<Palette, { grew: [Rgb, Rgb]; shrank: [Rgb, Rgb] }> = {
	'red-blue': {
		grew: [[0xfd, 0xe2, 0xda], [0xe5, 0x53, 0x41]],
		shrank: [[0xdb, 0xe9, 0xfb], [0x4f, 0x8f, 0xe6]],
	},
	'orange-blue': {
		grew: [[0xfd, 0xec, 0xcb], [0xf0, 0x92, 0x0a]],
		shrank: [[0xdb, 0xe9, 0xfb], [0x4f, 0x8f, 0xe6]],
	},
};

function between(from: Rgb, to: Rgb, position: number): Rgb {
	return from.map((part, i) => Math.round(part + (to[i]! - part) * position)) as Rgb;
}

/** A colour as a number, 0xrrggbb. */
export type Color = number;

function colorOf(rgb: Rgb, isDark: boolean): Color {
	const [r, g, b] = isDark ? rgb.map((part) => Math.round(part * DARK_FACTOR)) as Rgb : rgb;
	return (r << 16) | (g << 8) | b;
}

export function css(color: Color): string {
	return `#${color.toString(16).padStart(6, '0')}`;
}

/* FNV-1a, so that a function has the same shade in every file. */
function position(name: string): number {
	let hash = 2166136261;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	return ((hash ^ (hash >>> 16)) & 255) / 255;
}

function shade(kind: string, isInlined: boolean, at: number): Rgb {
	const ends = KINDS[kind];
	if (!ends)
		return ROOT;
	const color = between(ends.from, ends.to, at);
	return isInlined ? (color.map((part) => Math.round((part + 255) / 2)) as Rgb) : color;
}

export function itemColor(item: Item | undefined, isDark: boolean): Color {
	return colorOf(item ? shade(item.kind, item.isInlined, position(item.name)) : ROOT, isDark);
}

export function changeColor(change: Change, palette: Palette, isDark: boolean): Color {
	if (change.isNoise || change.relative === 0)
		return colorOf(GREY, isDark);
	const [from, to] = change.relative > 0 ? CHANGES[palette].grew : CHANGES[palette].shrank;
	const size = Math.abs(change.relative);
	return colorOf(between(from, to, size ** COLOR_EXPONENT * (size < 1 ? PARTIAL_MAX : 1)), isDark);
}

export interface LegendEntry {
	text: string;
	color: Color;
}

/* Frames that are no code: who ended a wait, and why a stack ends before its root. */
function stopLegend(items: Item[]): string {
	const stops = items.filter(({ kind }) => kind === 'truncated');
	const wakers = stops.filter(({ name }) => name.startsWith('[woken by '));
	const legend = KINDS.truncated!.legend;
	return wakers.length === 0 ? legend : wakers.length === stops.length ? 'waker' : `waker, ${legend}`;
}

/** The kinds that a profile has, in a fixed order. */
export function legendOf(items: Item[], isDark: boolean): LegendEntry[] {
	const used = new Set(items.map((item) => item.kind));
	const entries = Object.entries(KINDS)
		.filter(([kind]) => used.has(kind))
		.map(([kind, { legend }]) => ({
			text: kind === 'truncated' ? stopLegend(items) : legend,
			color: colorOf(shade(kind, false, LEGEND_POSITION), isDark),
		}));
	if (items.some((item) => item.isInlined))
		entries.push({ text: 'inlined', color: colorOf(shade('native', true, LEGEND_POSITION), isDark) });
	return entries;
}

/** `hasNew`, `hasGone`: whether such boxes have a width. */
export function changeLegend(palette: Palette, isDark: boolean, hasNew: boolean, hasGone: boolean): LegendEntry[] {
	const entry = (text: string, relative: number) => ({
		text,
		color: changeColor({ relative, points: 0, isNoise: false }, palette, isDark),
	});
	return [
		...(hasNew ? [entry('new', 1)] : []), entry('twice as much', 0.5), entry('unchanged or noise', 0),
		entry('half', -0.5), ...(hasGone ? [entry('gone', -1)] : []),
	];
}

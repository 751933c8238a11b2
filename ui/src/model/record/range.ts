// SPDX-License-Identifier: Apache-2.0
/* Ranges of time, in seconds since 1970: [from, to). */

export interface Range {
	from: number;
	to: number;
}

const WINDOW_MIN_S = 30;
const VISIBLE_SHARE = 1 / 200; // of the window's width that a selection has at least
const CONTEXT = 15; // how much wider than a selection a window around it is
const WIDER = 4;

export function lengthOf({ from, to }: Range): number {
	return to - from;
}

export function isSame(a: Range | null, b: Range | null): boolean {
	return a === b || (a !== null && b !== null && a.from === b.from && a.to === b.to);
}

export function contains(outer: Range, inner: Range): boolean {
	return outer.from <= inner.from && inner.to <= outer.to;
}

/** Of whole seconds, at least one. */
export function whole(from: number, to: number): Range {
	const first = Math.floor(Math.min(from, to));
	return { from: first, to: Math.max(Math.ceil(Math.max(from, to)), first + 1) };
}

/** A range of the same length that lies within the bounds, or the bounds. */
export function within(range: Range, bounds: Range): Range {
	const length = Math.min(lengthOf(range), lengthOf(bounds));
	const from = Math.min(Math.max(range.from, bounds.from), bounds.to - length);
	return { from, to: from + length };
}

/** The neighbour of the same length. */
export function stepped(range: Range, step: 1 | -1, bounds: Range): Range {
	const shift = step * lengthOf(range);
	return within({ from: range.from + shift, to: range.to + shift }, bounds);
}

/** The time before a range with the same length; null: the record does not reach back so far. */
export function before(range: Range, bounds: Range): Range | null {
	const from = Math.max(2 * range.from - range.to, bounds.from);
	return from < range.from ? { from, to: range.from } : null;
}

/** The range that was left last for a part of it, else a wider one around the same middle; null:
 * there is none. `left`: the ranges that were selected before, the last one at the end. */
export function wider(range: Range, left: readonly Range[], bounds: Range): Range | null {
	const last = left.filter((one) => contains(one, range) && lengthOf(one) > lengthOf(range)).at(-1);
	if (last)
		return last;
	if (contains(range, bounds))
		return null;
	const more = (lengthOf(range) * (WIDER - 1)) / 2;
	return within(whole(range.from - more, range.to + more), bounds);
}

export function newest(seconds: number, bounds: Range): Range {
	return { from: Math.max(bounds.to - seconds, bounds.from), to: bounds.to };
}

/** A window in which a selection can be seen, changed as little as possible. */
export function windowAround(window: Range, selection: Range, bounds: Range): Range {
	const isVisible = lengthOf(selection) >= lengthOf(window) * VISIBLE_SHARE;
	if (contains(window, selection) && isVisible)
		return window;
	const length = lengthOf(selection);
	if (isVisible && length <= lengthOf(window)) {
		const middle = (selection.from + selection.to) / 2;
		const half = lengthOf(window) / 2;
		return within(whole(middle - half, middle + half), bounds);
	}
	const isNarrow = !isVisible;
	const around = isNarrow ? Math.max(length * CONTEXT, WINDOW_MIN_S) : length / 20;
	return within(whole(selection.from - around, selection.to + around), bounds);
}

/** The window made wider or narrower around a place, which is a share of its width. */
export function scaled(window: Range, factor: number, at: number, bounds: Range): Range {
	const length = Math.min(Math.max(lengthOf(window) * factor, WINDOW_MIN_S), lengthOf(bounds));
	const middle = window.from + lengthOf(window) * at;
	const from = Math.round(middle - length * at);
	return within({ from, to: Math.max(from + Math.round(length), from + 1) }, bounds);
}

export function moved(window: Range, share: number, bounds: Range): Range {
	const shift = Math.round(lengthOf(window) * share);
	return within({ from: window.from + shift, to: window.to + shift }, bounds);
}

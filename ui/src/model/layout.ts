// SPDX-License-Identifier: Apache-2.0
/* What of a tree is to be seen, and what is at a place. */
import type { Tree } from './tree.ts';

export type Side = 'after' | 'before';

/** The part of a tree that is shown, in units of its values, and how wide that is in pixels. */
export interface Span {
	from: number;
	to: number;
	px: number;
}

export interface Visitor {
	/** A box of `MIN_PX` or more. */
	box(node: number, x: number, width: number): void;
	/** Neighbours that are too narrow for a box each; `node` is the first of them. */
	crumbs(node: number, x: number, width: number): void;
}

export const MIN_PX = 1;

export function startsOf(tree: Tree, side: Side): Float64Array {
	return side === 'after' ? tree.start : tree.startBefore;
}

export function widthsOf(tree: Tree, side: Side): Float64Array {
	return side === 'after' ? tree.total : tree.before;
}

/** Visits what is to be seen at the depths from `first` to `last`. */
export function visit(tree: Tree, side: Side, span: Span, first: number, last: number, visitor: Visitor) {
	const start = startsOf(tree, side);
	const width = widthsOf(tree, side);
	const scale = span.px / (span.to - span.from);
	/* Of each depth: the crumbs that no box has followed so far. */
	const crumb: ({ node: number; x: number; end: number } | undefined)[] = [];
	const flush = (depth: number) => {
		const left = crumb[depth];
		if (left && left.end - left.x >= MIN_PX)
			visitor.crumbs(left.node, left.x, left.end - left.x);
		crumb[depth] = undefined;
	};
	for (let i = 0; i < tree.n;) {
		const depth = tree.depth[i]!;
		const x = (start[i]! - span.from) * scale;
		const w = width[i]! * scale;
		if (x + w <= 0 || x >= span.px || w <= 0 || depth > last) {
			i = tree.end[i]!;
			continue;
		}
		if (w >= MIN_PX) {
			if (depth >= first)
				visitor.box(i, x, w);
			i++;
			continue;
		}
		const left = crumb[depth];
		if (depth < first) {
			i = tree.end[i]!;
			continue;
		}
		if (left && x - left.end < MIN_PX) {
			left.end = x + w;
		} else {
			flush(depth);
			crumb[depth] = { node: i, x, end: x + w };
		}
		i = tree.end[i]!;
	}
	for (let depth = 0; depth < crumb.length; depth++)
		flush(depth);
}

/** The box at a depth that covers a place, or -1. */
export function boxAt(tree: Tree, side: Side, depth: number, place: number): number {
	const start = startsOf(tree, side);
	const width = widthsOf(tree, side);
	let node = 0;
	while (tree.depth[node]! < depth) {
		let child = node + 1;
		while (child < tree.end[node]! && start[child]! + width[child]! <= place)
			child = tree.end[child]!;
		if (child >= tree.end[node]! || start[child]! > place)
			return -1;
		node = child;
	}
	return place >= start[node]! && place < start[node]! + width[node]! ? node : -1;
}

/** The child with the largest value, or -1. */
export function largestChild(tree: Tree, side: Side, node: number): number {
	const width = widthsOf(tree, side);
	let largest = -1;
	for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!)
		if (width[child]! > 0 && (largest < 0 || width[child]! > width[largest]!))
			largest = child;
	return largest;
}

/** The sibling before or after a box that has a width, or -1. */
export function sibling(tree: Tree, side: Side, node: number, step: 1 | -1): number {
	const width = widthsOf(tree, side);
	const parent = tree.parent[node]!;
	let before = -1;
	if (parent < 0)
		return -1;
	for (let child = parent + 1; child < tree.end[parent]!; child = tree.end[child]!) {
		if (child > node && step > 0 && width[child]! > 0)
			return child;
		if (child === node && step < 0)
			return before;
		if (width[child]! > 0)
			before = child;
	}
	return -1;
}

/** The deepest box that covers all of a span. */
export function covering(tree: Tree, side: Side, from: number, to: number): number {
	const start = startsOf(tree, side);
	const width = widthsOf(tree, side);
	let node = 0;
	for (let child = 1; child < tree.end[node]!;) {
		if (start[child]! <= from && start[child]! + width[child]! >= to) {
			node = child;
			child = node + 1;
		} else {
			child = tree.end[child]!;
		}
	}
	return node;
}

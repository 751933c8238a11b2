// SPDX-License-Identifier: Apache-2.0
/* Which function calls which: a tree of stacks as a graph with one node for each function. Only the
 * largest functions are nodes. Where a caller is none, the next one above it takes its place. */
import type { Tree } from './tree.ts';

export interface CallNode {
	item: number;
	self: number;
	total: number;
	before: number;
}

export interface CallEdge {
	/** Numbers of nodes. */
	from: number;
	to: number;
	total: number;
	/** Functions between the two are no nodes. */
	isIndirect: boolean;
}

export interface CallGraph {
	nodes: CallNode[];
	edges: CallEdge[];
	/** Functions that are no nodes. */
	nrHidden: number;
}

export const NODES_MAX = 80;
const NODE_SHARE = 0.004;
const EDGE_SHARE = 0.001;

/* Visits the boxes of a tree in order: `open` gets each box, `close` gets it when all boxes below it are done. */
function walk(tree: Tree, open: (node: number) => void, close: (node: number) => void) {
	const path: number[] = [];
	for (let i = 0; i < tree.n; i++) {
		while (path.length > 0 && tree.end[path.at(-1)!]! <= i)
			close(path.pop()!);
		path.push(i);
		open(i);
	}
}

/* Of each item: sums, in which a stack counts once however often it has the function. */
function itemSums(tree: Tree): Map<number, CallNode> {
	const sums = new Map<number, CallNode>();
	const nrOpen = new Map<number, number>();
	walk(tree, (i) => {
		const item = tree.item[i]!;
		const sum = sums.get(item) ?? { item, self: 0, total: 0, before: 0 };
		const nr = nrOpen.get(item) ?? 0;
		sum.self += tree.self[i]!;
		if (nr === 0) {
			sum.total += tree.total[i]!;
			sum.before += tree.before[i]!;
		}
		nrOpen.set(item, nr + 1);
		sums.set(item, sum);
	}, (i) => nrOpen.set(tree.item[i]!, nrOpen.get(tree.item[i]!)! - 1));
	sums.delete(-1);
	return sums;
}

/* Edges from the nearest node above, a stack counting once. */
function edgesOf(tree: Tree, numberOf: Map<number, number>): CallEdge[] {
	const edges = new Map<number, CallEdge & { nrOpen: number }>();
	const caller = new Int32Array(tree.n).fill(-1); // the nearest box above that is a node
	const keyOf = (i: number) => {
		const above = caller[i]!;
		const to = numberOf.get(tree.item[i]!);
		const from = above < 0 ? undefined : numberOf.get(tree.item[above]!);
		return to === undefined || from === undefined || from === to ? -1 : from * NODES_MAX + to;
	};
	walk(tree, (i) => {
		const parent = tree.parent[i]!;
		if (parent >= 0)
			caller[i] = numberOf.has(tree.item[parent]!) ? parent : caller[parent]!;
		const key = keyOf(i);
		if (key < 0)
			return;
		const edge = edges.get(key) ?? {
			from: Math.floor(key / NODES_MAX), to: key % NODES_MAX, total: 0, isIndirect: true, nrOpen: 0,
		};
		if (edge.nrOpen++ === 0)
			edge.total += tree.total[i]! + tree.before[i]!;
		edge.isIndirect &&= caller[i] !== parent;
		edges.set(key, edge);
	}, (i) => {
		const edge = edges.get(keyOf(i));
		if (edge)
			edge.nrOpen--;
	});
	return [...edges.values()].map(({ from, to, total, isIndirect }) => ({ from, to, total, isIndirect }));
}

/* Narrow edges are left out, but no node loses its largest caller. */
function largestEdges(edges: CallEdge[], all: number): CallEdge[] {
	const hasCaller = new Set<number>();
	return edges.sort((a, b) => b.total - a.total).filter(({ to, total }) => {
		const isFirst = !hasCaller.has(to);
		hasCaller.add(to);
		return isFirst || total >= EDGE_SHARE * all;
	});
}

/** The graph of a tree of stacks without labels. */
export function callGraphOf(tree: Tree): CallGraph {
	const all = (tree.total[0] ?? 0) + (tree.before[0] ?? 0);
	const sums = [...itemSums(tree).values()].sort((a, b) => b.total + b.before - a.total - a.before);
	const nodes = sums.slice(0, NODES_MAX).filter(({ total, before }) => total + before >= NODE_SHARE * all);
	const numberOf = new Map(nodes.map(({ item }, i) => [item, i]));
	return { nodes, edges: largestEdges(edgesOf(tree, numberOf), all), nrHidden: sums.length - nodes.length };
}

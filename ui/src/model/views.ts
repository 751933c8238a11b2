// SPDX-License-Identifier: Apache-2.0
/* The trees that are drawn: stacks from the root, stacks turned round, and the callers and callees
 * of one function. */
import { labelItem } from './profile.ts';
import type { Profile } from './profile.ts';
import type { Selection } from './selection.ts';
import { TreeBuilder } from './tree.ts';
import type { Tree } from './tree.ts';

export interface Grouping {
	/** Labels whose values stand above the stacks, the outermost first. */
	labels: string[];
	/** Whether stacks that are turned round have them at their other end. */
	areLast: boolean;
}

/** Samples with the same labels above the stack and the same node. */
interface Sums {
	group: Int32Array;
	node: Int32Array;
	value: Float64Array;
	before: Float64Array;
	n: number;
	/** Of each group: its items. */
	groups: number[][];
}

/** Ranks items by name. */
export function rankOf(profile: Profile): Int32Array {
	const names = profile.items.map((item) => item.name);
	const order = names.map((_, i) => i);
	order.sort((a, b) => {
		const x = names[a]!;
		const y = names[b]!;
		return x < y ? -1 : x > y ? 1 : a - b;
	});
	const rank = new Int32Array(names.length);
	order.forEach((item, at) => (rank[item] = at));
	return rank;
}

/* Numbers the combinations of the labels' values. */
function groupsOf(profile: Profile, names: string[]): { groups: number[][]; ofSet: Int32Array } {
	const labels = names.map((name) => profile.labels.find((label) => label.name === name));
	const itemsOf = names.map((name, i) => labels[i]?.words.map((word) => labelItem(profile, name, word)));
	const known = new Map<string, number>();
	const groups: number[][] = [];
	const ofSet = new Int32Array(profile.nrSets);
	for (let set = 0; set < ofSet.length; set++) {
		const items = names.map((name, i) =>
			itemsOf[i]?.[labels[i]!.valueOf[set]!] ?? labelItem(profile, name, ''));
		const key = items.join();
		const id = known.get(key) ?? groups.push(items) - 1;
		known.set(key, id);
		ofSet[set] = id;
	}
	return { groups, ofSet };
}

/* The samples that are shown, ordered by group and node. */
function sumsOf(profile: Profile, selection: Selection, names: string[]): Sums {
	const { groups, ofSet } = groupsOf(profile, names);
	const { sampleNode, sampleSet } = profile;
	const place = new Int32Array(groups.length + 1);
	const shown: number[] = [];
	for (let i = 0; i < sampleNode.length; i++) {
		if (!selection.isShown[sampleNode[i]!] || !selection.hasLabels[sampleSet[i]!])
			continue;
		shown.push(i);
		place[ofSet[sampleSet[i]!]! + 1]!++;
	}
	for (let i = 1; i < place.length; i++)
		place[i]! += place[i - 1]!;
	const sorted = new Int32Array(shown.length);
	for (const i of shown)
		sorted[place[ofSet[sampleSet[i]!]!]!++] = i;
	return joined(profile, sorted, ofSet, groups);
}

function joined(profile: Profile, sorted: Int32Array, ofSet: Int32Array, groups: number[][]): Sums {
	const sums: Sums = {
		group: new Int32Array(sorted.length),
		node: new Int32Array(sorted.length),
		value: new Float64Array(sorted.length),
		before: new Float64Array(sorted.length),
		n: 0,
		groups,
	};
	for (const i of sorted) {
		const group = ofSet[profile.sampleSet[i]!]!;
		const node = profile.sampleNode[i]!;
		let last = sums.n - 1;
		if (last < 0 || sums.group[last] !== group || sums.node[last] !== node) {
			last = sums.n++;
			sums.group[last] = group;
			sums.node[last] = node;
		}
		sums.value[last]! += profile.value[i]!;
		sums.before[last]! += profile.before[i]!;
	}
	return sums;
}

const KERNEL_MARK = '[kernel]';

/* A stack of which only hidden functions of the kernel are left has one box for them. */
function markItem(profile: Profile): number {
	const known = profile.items.findIndex((item) => item.name === KERNEL_MARK && item.label === '');
	if (known >= 0)
		return known;
	return profile.items.push({
		name: KERNEL_MARK, kind: 'kernel', module: '', file: '', line: 0, isInlined: false, label: '',
	}) - 1;
}

export interface Maker {
	profile: Profile;
	selection: Selection;
	/** Whether functions of the kernel are hidden. */
	hidesKernel: boolean;
	rank: () => Int32Array;
}

function addGroup(builder: TreeBuilder, items: number[]): number {
	return items.reduce((node, item) => builder.child(node, item), 0);
}

/** The tree of stacks. */
export function topDown(maker: Maker, grouping: Grouping): Tree {
	const { profile, selection } = maker;
	const { parent, itemOf } = profile;
	const sums = sumsOf(profile, selection, grouping.labels);
	const mark = maker.hidesKernel ? markItem(profile) : -1;
	const builder = new TreeBuilder(-1, parent.length);
	/* The profile's nodes with the same parent differ. In a comparison, their items may be the same. */
	const differ = selection.isWhole && !profile.comparison;
	/* Of each node of the profile: its box in the group at hand. */
	const box = new Int32Array(parent.length);
	const groupOf = new Int32Array(parent.length).fill(-1);
	const path: number[] = [];
	for (let i = 0; i < sums.n; i++) {
		const group = sums.group[i]!;
		if (groupOf[0] !== group) {
			groupOf[0] = group;
			box[0] = addGroup(builder, sums.groups[group]!);
		}
		let node = sums.node[i]!;
		for (; groupOf[node] !== group; node = parent[node]!)
			path.push(node);
		let at = box[node]!;
		while (path.length > 0) {
			node = path.pop()!;
			if (selection.hasBox[node])
				at = differ ? builder.add(at, itemOf[node]!) : builder.child(at, itemOf[node]!);
			groupOf[node] = group;
			box[node] = at;
		}
		if (mark >= 0 && at === box[0] && sums.node[i] !== 0)
			at = builder.child(at, mark);
		builder.self[at]! += sums.value[i]!;
		builder.selfBefore[at]! += sums.before[i]!;
	}
	return builder.finish(maker.rank());
}

/* The node of a stack that has no box left but the one of hidden functions of the kernel. */
const MARK = -2;

/* Stacks on their way to the root. */
interface Chains {
	/** The next node; 0: only labels are left. */
	node: Int32Array;
	/** The group whose items follow, from the innermost on; -1: none. */
	group: Int32Array;
	value: Float64Array;
	before: Float64Array;
}

interface Span {
	box: number;
	from: number;
	to: number;
	/** How many items of the groups were used. */
	depth: number;
}

/* Turns chains round below a box. Chains that go on with the same item stay together: they are
 * sorted by item, and each run becomes a child. */
class Turner {
	private round = 0;
	private readonly stamp: Int32Array;
	private readonly slot: Int32Array;

	constructor(
		private readonly maker: Maker,
		private readonly groups: number[][],
		private readonly builder: TreeBuilder,
		private readonly chains: Chains,
		private readonly mark = -1,
	) {
		this.stamp = new Int32Array(maker.profile.items.length).fill(-1);
		this.slot = new Int32Array(maker.profile.items.length);
	}

	run(box: number, from: number, to: number) {
		const spans: Span[] = [{ box, from, to, depth: 0 }];
		while (spans.length > 0)
			this.turn(spans.pop()!, spans);
	}

	/* The item at which a chain is, or -1. Moves on to the next node that has a box. */
	private itemAt(chain: number, depth: number): number {
		const { profile, selection } = this.maker;
		const { node, group } = this.chains;
		if (node[chain] === MARK)
			return this.mark;
		while (node[chain]! > 0 && !selection.hasBox[node[chain]!])
			node[chain] = profile.parent[node[chain]!]!;
		if (node[chain]! > 0)
			return profile.itemOf[node[chain]!]!;
		if (group[chain]! < 0)
			return -1;
		const items = this.groups[group[chain]!]!;
		return items[items.length - 1 - depth] ?? -1;
	}

	private above(node: number): number {
		return node === MARK ? 0 : this.maker.profile.parent[node]!;
	}

	private turn(span: Span, spans: Span[]) {
		const round = this.round++;
		const { chains, builder } = this;
		const counts: number[] = [];
		const items: number[] = [];
		const slotOf = new Int32Array(span.to - span.from);
		for (let chain = span.from; chain < span.to; chain++) {
			const item = this.itemAt(chain, span.depth);
			if (item < 0) {
				slotOf[chain - span.from] = -1;
				builder.self[span.box]! += chains.value[chain]!;
				builder.selfBefore[span.box]! += chains.before[chain]!;
				continue;
			}
			if (this.stamp[item] !== round) {
				this.stamp[item] = round;
				this.slot[item] = items.push(item) - 1;
				counts.push(0);
			}
			slotOf[chain - span.from] = this.slot[item]!;
			counts[this.slot[item]!]!++;
		}
		if (items.length > 0)
			this.split(span, items, counts, slotOf, spans);
	}

	/* Sorts the chains of a span by slot, and makes a child of each. */
	private split(span: Span, items: number[], counts: number[], slotOf: Int32Array, spans: Span[]) {
		const { node, group, value, before } = this.chains;
		const place: number[] = [];
		let next = span.from;
		for (const count of counts) {
			place.push(next);
			next += count;
		}
		const from = span.from;
		const old = [node, group, value, before].map((column) => column.slice(from, span.to));
		slotOf.forEach((slot, i) => {
			if (slot < 0)
				return;
			const to = place[slot]!++;
			node[to] = old[0]![i]!;
			group[to] = old[1]![i]!;
			value[to] = old[2]![i]!;
			before[to] = old[3]![i]!;
		});
		items.forEach((item, slot) => {
			const to = place[slot]!;
			const first = to - counts[slot]!;
			const box = this.builder.add(span.box, item);
			let isLabel = false;
			for (let chain = first; chain < to; chain++) {
				isLabel = node[chain] === 0;
				if (!isLabel)
					node[chain] = this.above(node[chain]!);
			}
			spans.push({ box, from: first, to, depth: span.depth + (isLabel ? 1 : 0) });
		});
	}
}

function markEmpty(maker: Maker, nodes: Int32Array) {
	nodes.forEach((node, i) => {
		let at = node;
		while (at > 0 && !maker.selection.hasBox[at])
			at = maker.profile.parent[at]!;
		if (node > 0 && at === 0)
			nodes[i] = MARK;
	});
}

/** The tree of stacks that begin with the function that ran. */
export function bottomUp(maker: Maker, grouping: Grouping): Tree {
	const { profile } = maker;
	const sums = sumsOf(profile, maker.selection, grouping.labels);
	const mark = maker.hidesKernel ? markItem(profile) : -1;
	const builder = new TreeBuilder();
	const chains: Chains = {
		node: sums.node.slice(0, sums.n),
		group: grouping.areLast ? sums.group.slice(0, sums.n) : new Int32Array(sums.n).fill(-1),
		value: sums.value,
		before: sums.before,
	};
	if (mark >= 0)
		markEmpty(maker, chains.node);
	const turner = new Turner(maker, sums.groups, builder, chains, mark);
	for (let from = 0; from < sums.n;) {
		let to = sums.n;
		let box = 0;
		if (!grouping.areLast) {
			const group = sums.group[from]!;
			to = from + 1;
			while (to < sums.n && sums.group[to] === group)
				to++;
			box = addGroup(builder, sums.groups[group]!);
		}
		turner.run(box, from, to);
		from = to;
	}
	return builder.finish(maker.rank());
}

/** The function's callers, and what it calls, from its outermost place in each stack on. */
export function pivot(maker: Maker, name: string, grouping: Grouping): { callers: Tree; callees: Tree } {
	const { profile, selection } = maker;
	const { parent, itemOf } = profile;
	const sums = sumsOf(profile, selection, grouping.labels);
	const root = profile.items.findIndex((item) => item.name === name && !item.label);
	const outer = outermost(profile, selection, name);
	const below = new TreeBuilder(root);
	const above = new TreeBuilder(root);
	const found: number[] = [];
	const box = new Int32Array(parent.length).fill(-1);
	const path: number[] = [];
	for (let i = 0; i < sums.n; i++) {
		let node = sums.node[i]!;
		if (outer[node]! < 0)
			continue;
		found.push(i);
		box[outer[node]!] = 0;
		for (; box[node]! < 0; node = parent[node]!)
			path.push(node);
		let at = box[node]!;
		while (path.length > 0) {
			node = path.pop()!;
			at = selection.hasBox[node] ? below.child(at, itemOf[node]!) : at;
			box[node] = at;
		}
		below.self[at]! += sums.value[i]!;
		below.selfBefore[at]! += sums.before[i]!;
	}
	const chains: Chains = {
		node: Int32Array.from(found, (i) => parent[outer[sums.node[i]!]!]!),
		group: Int32Array.from(found, (i) => sums.group[i]!),
		value: Float64Array.from(found, (i) => sums.value[i]!),
		before: Float64Array.from(found, (i) => sums.before[i]!),
	};
	new Turner(maker, sums.groups, above, chains).run(0, 0, found.length);
	return { callers: above.finish(maker.rank()), callees: below.finish(maker.rank()) };
}

/* Of each node: the outermost one of that name at or above it, or -1. */
function outermost(profile: Profile, selection: Selection, name: string): Int32Array {
	const { parent, itemOf, items } = profile;
	const outer = new Int32Array(parent.length).fill(-1);
	for (let i = 1; i < outer.length; i++) {
		outer[i] = outer[parent[i]!]!;
		if (outer[i]! < 0 && selection.hasBox[i] && items[itemOf[i]!]!.name === name)
			outer[i] = i;
	}
	return outer;
}

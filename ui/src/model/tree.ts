// SPDX-License-Identifier: Apache-2.0
/* Trees of boxes. A finished tree has its boxes in depth-first order, as arrays: the descendants of
 * box i are i + 1 to end[i] - 1, so that a subtree that is not to be seen is skipped in one step. */

export interface Tree {
	n: number;
	item: Int32Array;
	parent: Int32Array;
	depth: Int32Array;
	end: Int32Array;
	/** With and without what is below the box: of the profile, and of the one before it. */
	total: Float64Array;
	before: Float64Array;
	self: Float64Array;
	selfBefore: Float64Array;
	/** Where the box begins, if its width is `total`, or `before`. */
	start: Float64Array;
	startBefore: Float64Array;
	maxDepth: number;
}

const SIZE_MIN = 1 << 8;

/* The children of all nodes: an open hash table of nodes by parent and item. */
class Children {
	private slots: Int32Array;
	private n = 0;

	constructor(private readonly builder: TreeBuilder, size: number) {
		this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * size))).fill(-1);
	}

	/** The slot of a child, or the free one where it belongs. */
	private slotOf(parent: number, item: number): number {
		const { slots, builder } = this;
		const mask = slots.length - 1;
		let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(item, 0x85ebca6b)) >>> 0;
		slot = (slot ^ (slot >>> 15)) & mask;
		for (;;) {
			const node = slots[slot]!;
			if (node < 0 || (builder.parent[node] === parent && builder.item[node] === item))
				return slot;
			slot = (slot + 1) & mask;
		}
	}

	/** The child, or -1. */
	find(parent: number, item: number): number {
		return this.slots[this.slotOf(parent, item)]!;
	}

	add(node: number) {
		if (2 * ++this.n > this.slots.length) {
			const old = this.slots;
			this.slots = new Int32Array(2 * old.length).fill(-1);
			for (const known of old)
				if (known >= 0)
					this.put(known);
		}
		this.put(node);
	}

	private put(node: number) {
		this.slots[this.slotOf(this.builder.parent[node]!, this.builder.item[node]!)] = node;
	}
}

function grown<A extends Int32Array | Float64Array>(array: A, larger: A): A {
	larger.set(array);
	return larger;
}

export class TreeBuilder {
	n = 1;
	item: Int32Array;
	parent: Int32Array;
	self: Float64Array;
	selfBefore: Float64Array;
	private readonly children: Children;

	/** `size` is about how many boxes there will be. */
	constructor(rootItem = -1, size = SIZE_MIN) {
		const first = Math.max(size, SIZE_MIN);
		this.item = new Int32Array(first);
		this.parent = new Int32Array(first);
		this.self = new Float64Array(first);
		this.selfBefore = new Float64Array(first);
		this.item[0] = rootItem;
		this.parent[0] = -1;
		this.children = new Children(this, first);
	}

	/** Finds or adds a child. */
	child(parent: number, item: number): number {
		const known = this.children.find(parent, item);
		if (known >= 0)
			return known;
		const node = this.add(parent, item);
		this.children.add(node);
		return node;
	}

	/** Adds a child that is known to be new. */
	add(parent: number, item: number): number {
		if (this.n === this.item.length)
			this.grow();
		this.item[this.n] = item;
		this.parent[this.n] = parent;
		return this.n++;
	}

	private grow() {
		const size = 2 * this.n;
		this.item = grown(this.item, new Int32Array(size));
		this.parent = grown(this.parent, new Int32Array(size));
		this.self = grown(this.self, new Float64Array(size));
		this.selfBefore = grown(this.selfBefore, new Float64Array(size));
	}

	/** `rank` orders the items of siblings. Boxes without a value are left out. */
	finish(rank: Int32Array): Tree {
		const total = this.self.slice(0, this.n);
		const before = this.selfBefore.slice(0, this.n);
		for (let i = total.length - 1; i > 0; i--) {
			total[this.parent[i]!]! += total[i]!;
			before[this.parent[i]!]! += before[i]!;
		}
		const { first, next } = this.sortedChildren(rank, total, before);
		return this.inOrder(first, next, total, before);
	}

	/* All nodes are sorted by rank at once, by counting, and then linked below their parents. */
	private sortedChildren(rank: Int32Array, total: Float64Array, before: Float64Array) {
		const n = total.length;
		const place = new Int32Array(rank.length + 1);
		for (let i = 1; i < n; i++)
			place[rank[this.item[i]!]! + 1]!++;
		for (let i = 1; i <= rank.length; i++)
			place[i]! += place[i - 1]!;
		const sorted = new Int32Array(n - 1);
		for (let i = 1; i < n; i++)
			sorted[place[rank[this.item[i]!]!]!++] = i;
		const first = new Int32Array(n).fill(-1);
		const next = new Int32Array(n).fill(-1);
		for (let at = n - 2; at >= 0; at--) {
			const i = sorted[at]!;
			if (total[i]! <= 0 && before[i]! <= 0)
				continue;
			next[i] = first[this.parent[i]!]!;
			first[this.parent[i]!] = i;
		}
		return { first, next };
	}

	private inOrder(first: Int32Array, next: Int32Array, total: Float64Array, before: Float64Array): Tree {
		const tree = emptyTree(total.length);
		const nextOf = new Int32Array(total.length).fill(-1);
		/* Where the next child of each box begins. */
		const free = new Float64Array(total.length);
		const freeBefore = new Float64Array(total.length);
		let parent = -1;
		let old = 0;
		while (old >= 0) {
			const at = tree.n++;
			tree.parent[at] = parent;
			tree.item[at] = this.item[old]!;
			tree.total[at] = total[old]!;
			tree.before[at] = before[old]!;
			tree.self[at] = this.self[old]!;
			tree.selfBefore[at] = this.selfBefore[old]!;
			nextOf[at] = next[old]!;
			if (parent >= 0) {
				tree.depth[at] = tree.depth[parent]! + 1;
				tree.maxDepth = Math.max(tree.maxDepth, tree.depth[at]);
				tree.start[at] = free[at] = free[parent]!;
				tree.startBefore[at] = freeBefore[at] = freeBefore[parent]!;
				free[parent]! += total[old]!;
				freeBefore[parent]! += before[old]!;
			}
			parent = at;
			old = first[old]!;
			while (old < 0 && parent >= 0) {
				tree.end[parent] = tree.n;
				old = nextOf[parent]!;
				parent = tree.parent[parent]!;
			}
		}
		return trimmed(tree);
	}
}

function emptyTree(size: number): Tree {
	return {
		n: 0,
		item: new Int32Array(size),
		parent: new Int32Array(size),
		depth: new Int32Array(size),
		end: new Int32Array(size),
		total: new Float64Array(size),
		before: new Float64Array(size),
		self: new Float64Array(size),
		selfBefore: new Float64Array(size),
		start: new Float64Array(size),
		startBefore: new Float64Array(size),
		maxDepth: 0,
	};
}

function trimmed(tree: Tree): Tree {
	const cut = <A extends Int32Array | Float64Array>(array: A): A => array.subarray(0, tree.n) as A;
	return {
		...tree,
		item: cut(tree.item), parent: cut(tree.parent), depth: cut(tree.depth), end: cut(tree.end),
		total: cut(tree.total), before: cut(tree.before),
		self: cut(tree.self), selfBefore: cut(tree.selfBefore),
		start: cut(tree.start), startBefore: cut(tree.startBefore),
	};
}

/** The items of a box and its ancestors, the root's child first. */
export function pathOf(tree: Tree, node: number): number[] {
	const path = [];
	for (let i = node; i > 0; i = tree.parent[i]!)
		path.unshift(tree.item[i]!);
	return path;
}

/** The box with such names on its path, or the last one on the way to it that there is. */
export function findNames(tree: Tree, names: readonly string[], nameOf: (item: number) => string | undefined): number {
	let node = 0;
	for (const name of names) {
		let child = node + 1;
		while (child < tree.end[node]! && nameOf(tree.item[child]!) !== name)
			child = tree.end[child]!;
		if (child >= tree.end[node]!)
			break;
		node = child;
	}
	return node;
}

/** The box with such a path, or the last one on the way to it that there is. */
export function findPath(tree: Tree, path: number[]): number {
	let node = 0;
	for (const item of path) {
		let child = node + 1;
		while (child < tree.end[node]! && tree.item[child] !== item)
			child = tree.end[child]!;
		if (child >= tree.end[node]!)
			break;
		node = child;
	}
	return node;
}

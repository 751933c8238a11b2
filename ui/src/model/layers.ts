// SPDX-License-Identifier: Apache-2.0
/* Places the nodes of a graph in layers, callers above callees (after Sugiyama):
 *
 *	edges of cycles are turned round -> layers -> long edges get bends -> order within the layers,
 *	with few crossings -> places, as near to their neighbours' as the order permits
 */

export interface Link {
	from: number;
	to: number;
	weight: number;
}

export interface Point {
	x: number;
	y: number;
}

export interface Layout {
	/** The middle of each node. */
	nodes: Point[];
	/** Of each link: the points it goes through, from its `from` to its `to`. */
	links: Point[][];
	width: number;
	height: number;
}

interface Vertex {
	layer: number;
	width: number;
	x: number;
	above: [number, number][];
	below: [number, number][];
}

const SWEEPS = 16;
const PASSES = 12;
const GAP_PX = 16;
const BEND_PX = 8;

/* Of each link: whether it closes a cycle, seen from the nodes in their order. */
function backLinks(n: number, links: readonly Link[]): boolean[] {
	const out: number[][] = Array.from({ length: n }, () => []);
	links.forEach((link, i) => out[link.from]!.push(i));
	const state = new Uint8Array(n); // 1: open, 2: done
	const isBack = links.map(() => false);
	const visit = (node: number) => {
		state[node] = 1;
		for (const i of out[node]!) {
			const { to } = links[i]!;
			if (state[to] === 1)
				isBack[i] = true;
			else if (state[to] === 0)
				visit(to);
		}
		state[node] = 2;
	};
	const isCalled = new Set(links.map(({ to }) => to));
	for (let pass = 0; pass < 2; pass++)
		for (let node = 0; node < n; node++)
			if (state[node] === 0 && (pass === 1 || !isCalled.has(node)))
				visit(node);
	return isBack;
}

/* The layer of each node: below all of its callers, and no higher than needed. */
function layersOf(n: number, links: readonly Link[]): Int32Array {
	const layer = new Int32Array(n);
	for (let changed = true, round = 0; changed && round <= n; round++) {
		changed = false;
		for (const { from, to } of links) {
			if (layer[to]! > layer[from]!)
				continue;
			layer[to] = layer[from]! + 1;
			changed = true;
		}
	}
	const isCalled = new Set(links.map(({ to }) => to));
	for (let node = 0; node < n; node++) {
		const below = links.filter(({ from }) => from === node).map(({ to }) => layer[to]!);
		if (!isCalled.has(node) && below.length > 0)
			layer[node] = Math.min(...below) - 1;
	}
	return layer;
}

function average(vertices: Vertex[], neighbours: [number, number][], own: number): number {
	let sum = 0;
	let weights = 0;
	for (const [other, weight] of neighbours) {
		sum += vertices[other]!.x * weight;
		weights += weight;
	}
	return weights > 0 ? sum / weights : own;
}

function crossings(vertices: Vertex[], layers: number[][]): number {
	const place = new Int32Array(vertices.length);
	let nr = 0;
	layers.forEach((layer) => layer.forEach((vertex, at) => (place[vertex] = at)));
	for (const layer of layers) {
		const ends = layer.flatMap((vertex) =>
			vertices[vertex]!.below.map(([other]) => place[other]!).sort((a, b) => a - b));
		for (let i = 0; i < ends.length; i++)
			for (let j = i + 1; j < ends.length; j++)
				nr += ends[i]! > ends[j]! ? 1 : 0;
	}
	return nr;
}

/* Orders each layer by the middle of the neighbours in the one before, down and up in turns. */
function order(vertices: Vertex[], layers: number[][]): number[][] {
	let best = layers;
	let least = Infinity;
	let now = layers;
	for (let sweep = 0; sweep < SWEEPS; sweep++) {
		const isDown = sweep % 2 === 0;
		now = now.map((layer) => [...layer]);
		for (const layer of isDown ? now : [...now].reverse()) {
			layer.forEach((vertex, at) => (vertices[vertex]!.x = at));
			const key = new Map(layer.map((vertex, at) => {
				const { above, below } = vertices[vertex]!;
				return [vertex, average(vertices, isDown ? above : below, at)];
			}));
			layer.sort((a, b) => key.get(a)! - key.get(b)!);
			layer.forEach((vertex, at) => (vertices[vertex]!.x = at - layer.length / 2));
		}
		const nr = crossings(vertices, now);
		if (nr < least) {
			least = nr;
			best = now.map((layer) => [...layer]);
		}
	}
	return best;
}

/* Puts the vertices of a layer as near to their wishes as their order and widths permit: neighbours that
 * want to overlap become a block at the mean of their wishes. */
function place(vertices: Vertex[], layer: number[], wishes: number[]) {
	const blocks: { sum: number; nr: number; first: number }[] = [];
	const shift: number[] = [];
	let right = 0;
	layer.forEach((vertex, i) => {
		const { width } = vertices[vertex]!;
		right += i > 0 ? width / 2 + GAP_PX : 0;
		shift.push(right);
		right += width / 2;
		blocks.push({ sum: wishes[i]! - shift[i]!, nr: 1, first: i });
		for (;;) {
			const last = blocks.at(-1)!;
			const other = blocks.at(-2);
			if (!other || other.sum / other.nr <= last.sum / last.nr)
				break;
			blocks.splice(-2, 2, { sum: other.sum + last.sum, nr: other.nr + last.nr, first: other.first });
		}
	});
	blocks.forEach(({ sum, nr, first }) => {
		for (let i = first; i < first + nr; i++)
			vertices[layer[i]!]!.x = sum / nr + shift[i]!;
	});
}

function spread(vertices: Vertex[], layers: number[][]) {
	for (const layer of layers)
		place(vertices, layer, layer.map(() => 0));
	for (let pass = 0; pass < PASSES; pass++) {
		const isDown = pass % 2 === 0;
		for (const layer of isDown ? layers : [...layers].reverse())
			place(vertices, layer, layer.map((vertex) => {
				const { above, below, x } = vertices[vertex]!;
				return average(vertices, isDown ? above : below, x);
			}));
	}
}

/* Vertices for the bends of long links. Returns the vertices of each link, from top to bottom. */
function chainsOf(vertices: Vertex[], links: readonly Link[]): number[][] {
	return links.map(({ from, to, weight }) => {
		const chain = [from];
		for (let layer = vertices[from]!.layer + 1; layer < vertices[to]!.layer; layer++)
			chain.push(vertices.push({ layer, width: BEND_PX, x: 0, above: [], below: [] }) - 1);
		chain.push(to);
		chain.slice(1).forEach((vertex, i) => {
			vertices[chain[i]!]!.below.push([vertex, weight]);
			vertices[vertex]!.above.push([chain[i]!, weight]);
		});
		return chain;
	});
}

/** `widths` of the nodes; `layerPx`: from one layer to the next. No link may lead to its own node. */
export function layout(widths: readonly number[], links: readonly Link[], layerPx: number): Layout {
	const isBack = backLinks(widths.length, links);
	const down = links.map((link, i) => (isBack[i] ? { ...link, from: link.to, to: link.from } : link));
	const layer = layersOf(widths.length, down);
	const vertices: Vertex[] = widths.map((width, i) => ({ layer: layer[i]!, width, x: 0, above: [], below: [] }));
	const chains = chainsOf(vertices, down);
	const nrLayers = vertices.reduce((most, one) => Math.max(most, one.layer + 1), 0);
	const layers: number[][] = Array.from({ length: nrLayers }, () => []);
	vertices.forEach((vertex, i) => layers[vertex.layer]!.push(i));
	const ordered = order(vertices, layers);
	spread(vertices, ordered);
	const left = vertices.reduce((least, { x, width }) => Math.min(least, x - width / 2), Infinity);
	const right = vertices.reduce((most, { x, width }) => Math.max(most, x + width / 2), -Infinity);
	const pointOf = (i: number): Point => ({ x: vertices[i]!.x - left, y: (vertices[i]!.layer + 0.5) * layerPx });
	return {
		nodes: widths.map((_, i) => pointOf(i)),
		links: chains.map((chain, i) => (isBack[i] ? [...chain].reverse() : chain).map(pointOf)),
		width: widths.length > 0 ? right - left : 0,
		height: nrLayers * layerPx,
	};
}

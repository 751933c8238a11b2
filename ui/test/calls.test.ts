// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callGraphOf, NODES_MAX } from '../src/model/call_graph.ts';
import { layout } from '../src/model/layers.ts';
import { TreeBuilder } from '../src/model/tree.ts';
import type { Tree } from '../src/model/tree.ts';

/* Items are numbers here; a stack is a list of them. */
function treeOf(stacks: [number[], number][], nrItems: number): Tree {
	const builder = new TreeBuilder();
	for (const [stack, value] of stacks) {
		const node = stack.reduce((at, item) => builder.child(at, item), 0);
		builder.self[node]! += value;
	}
	return builder.finish(Int32Array.from({ length: nrItems }, (_, i) => i));
}

test('a function is one node, however often it is in a stack', () => {
	const graph = callGraphOf(treeOf([[[0, 1, 2], 10], [[0, 3, 2], 5], [[0, 1, 0, 1], 4]], 4));
	assert.deepEqual(graph.nodes.map(({ item, self, total }) => [item, self, total]).sort(),
		[[0, 0, 19], [1, 4, 14], [2, 15, 15], [3, 0, 5]]);
	const edges = graph.edges.map(({ from, to, total }) =>
		`${graph.nodes[from]!.item}-${graph.nodes[to]!.item} ${total}`);
	assert.deepEqual(edges.sort(), ['0-1 14', '0-3 5', '1-0 4', '1-2 10', '3-2 5']);
	assert.ok(graph.edges.every(({ isIndirect }) => !isIndirect));
});

test('small functions are left out, and their callers and callees stay connected', () => {
	const stacks: [number[], number][] = [];
	for (let i = 0; i < 200; i++)
		stacks.push([[0, 10 + i, 1], 100]);
	const graph = callGraphOf(treeOf(stacks, 300));
	assert.ok(graph.nodes.length <= NODES_MAX && graph.nrHidden > 0);
	const link = graph.edges.find(({ from, to }) => graph.nodes[from]!.item === 0 && graph.nodes[to]!.item === 1);
	assert.ok(link?.isIndirect);
});

test('an empty tree is an empty graph', () => {
	assert.deepEqual(callGraphOf(treeOf([], 0)), { nodes: [], edges: [], nrHidden: 0 });
	assert.deepEqual(layout([], [], 50), { nodes: [], links: [], width: 0, height: 0 });
});

test('callers are above callees, and nodes do not overlap', () => {
	const link = (from: number, to: number) => ({ from, to, weight: 1 });
	const links = [link(0, 1), link(0, 2), link(0, 3), link(1, 4), link(2, 4), link(3, 5), link(0, 5), link(4, 0)];
	const { nodes, links: lines, width, height } = layout([100, 80, 80, 80, 60, 60], links, 50);
	for (const [from, to] of [[0, 1], [0, 2], [1, 4], [3, 5], [0, 5]] as const)
		assert.ok(nodes[from]!.y < nodes[to]!.y);
	const middle = [1, 2, 3].map((i) => nodes[i]!.x).sort((a, b) => a - b);
	assert.ok(middle[1]! - middle[0]! >= 80 && middle[2]! - middle[1]! >= 80);
	assert.equal(height, 150);
	for (const { x } of nodes)
		assert.ok(x >= 0 && x <= width);
	assert.equal(lines[6]!.length, 3, 'a link over two layers has a bend');
	assert.deepEqual(lines[7]![0], nodes[4], 'a link of a cycle begins at its caller');
});

test('a node without callers stands right above what it calls', () => {
	const links = [[0, 1], [1, 2], [2, 3], [4, 3]].map(([from, to]) => ({ from: from!, to: to!, weight: 1 }));
	const { nodes } = layout([10, 10, 10, 10, 10], links, 10);
	assert.equal(nodes[4]!.y, nodes[2]!.y);
});

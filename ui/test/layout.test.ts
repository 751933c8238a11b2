// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { boxAt, covering, largestChild, sibling, visit } from '../src/model/layout.ts';
import { SceneMaker } from '../src/model/scene.ts';
import { initialState } from '../src/model/state.ts';
import type { Tree } from '../src/model/tree.ts';
import { profile } from './profile.ts';

function treeOf(text: string): Tree {
	const p = profile(text);
	return new SceneMaker(p).sceneOf({ ...initialState(p), group: [] }).parts[0]!.tree;
}

function seen(tree: Tree, from: number, to: number, px: number, first = 0, last = 99): string[] {
	const all: string[] = [];
	visit(tree, 'after', { from, to, px }, first, last, {
		box: (node, x, w) => all.push(`${node}: ${x} ${w}`),
		crumbs: (node, x, w) => all.push(`${node}+: ${x} ${w}`),
	});
	return all;
}

/* 0 all, 1 a, 2 a;x, 3 a;y, 4 b */
const SMALL = 'c;a;x 30\nc;a;y 10\nc;a 20\nc;b 40';

test('boxes stand side by side below their parent', () => {
	assert.deepEqual(seen(treeOf(SMALL), 0, 100, 100), ['0: 0 100', '1: 0 60', '2: 0 30', '3: 30 10', '4: 60 40']);
});

test('what is beside a zoomed span is not visited', () => {
	assert.deepEqual(seen(treeOf(SMALL), 0, 30, 60), ['0: 0 200', '1: 0 120', '2: 0 60']);
});

test('rows that are not to be seen are not visited', () => {
	assert.deepEqual(seen(treeOf(SMALL), 0, 100, 100, 1, 1), ['1: 0 60', '4: 60 40']);
});

test('boxes that are too narrow are drawn together', () => {
	const many = Array.from({ length: 1000 }, (_, i) => `c;a;f${i} 1`).join('\n');
	const all = seen(treeOf(`${many}\nc;b 1000`), 0, 2000, 100);
	assert.equal(all.length, 4);
	assert.match(all[3]!, /^2\+: 0 (50|49\.99)/);
});

test('200,000 boxes are visited by the number of those that are seen', () => {
	const names = (i: number) => Array.from({ length: 100 }, (_, depth) => `f${depth < 3 ? depth : `${i}_${depth}`}`);
	const tree = treeOf(Array.from({ length: 2000 }, (_, i) =>
		`c;${names(i).join(';')} 1`).join('\n'));
	assert.ok(tree.n > 190000);
	const all = seen(tree, 0, 2000, 1000, 0, 40);
	assert.ok(all.length < 90000, String(all.length));
	assert.ok(seen(tree, 0, 2000, 800, 0, 40).length < 100);
});

test('a place has a box at each depth, or none', () => {
	const tree = treeOf(SMALL);
	assert.equal(boxAt(tree, 'after', 0, 99), 0);
	assert.equal(boxAt(tree, 'after', 1, 60), 4);
	assert.equal(boxAt(tree, 'after', 2, 35), 3);
	assert.equal(boxAt(tree, 'after', 2, 45), -1);
	assert.equal(boxAt(tree, 'after', 0, 100), -1);
	assert.equal(boxAt(tree, 'after', 9, 5), -1);
});

test('keys walk from box to box', () => {
	const tree = treeOf(SMALL);
	assert.equal(largestChild(tree, 'after', 0), 1);
	assert.equal(largestChild(tree, 'after', 1), 2);
	assert.equal(largestChild(tree, 'after', 4), -1);
	assert.equal(sibling(tree, 'after', 2, 1), 3);
	assert.equal(sibling(tree, 'after', 3, 1), -1);
	assert.equal(sibling(tree, 'after', 4, -1), 1);
	assert.equal(sibling(tree, 'after', 1, -1), -1);
	assert.equal(sibling(tree, 'after', 0, 1), -1);
});

test('keys skip boxes without a width', () => {
	const tree = treeOf('c;a 0 1\nc;b 1 0\nc;d 1 1');
	assert.equal(sibling(tree, 'after', 1, 1), 3);
	assert.equal(sibling(tree, 'after', 3, -1), 1);
	assert.equal(sibling(tree, 'before', 3, -1), 2);
	assert.equal(largestChild(tree, 'before', 0), 2);
});

test('a span has a deepest box that covers it', () => {
	const tree = treeOf(SMALL);
	assert.equal(covering(tree, 'after', 5, 20), 2);
	assert.equal(covering(tree, 'after', 5, 50), 1);
	assert.equal(covering(tree, 'after', 5, 70), 0);
});

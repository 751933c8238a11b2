// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeColor, changeLegend } from '../src/model/colors.ts';
import { initialState } from '../src/model/state.ts';
import type { State } from '../src/model/state.ts';
import { SceneMaker } from '../src/model/scene.ts';
import { findPath, pathOf } from '../src/model/tree.ts';
import { boxes, profile } from './profile.ts';

const WEB = `
	web;main;parse 3
	web;main;parse;read_[k] 2
	web;main;write_[k] 4
	cron;main;parse 1
`;

function shown(text: string, change: Partial<State>): string[][] {
	const p = profile(text);
	const scene = new SceneMaker(p).sceneOf({ ...initialState(p), ...change });
	return scene.parts.map((part) => boxes(p, part.tree));
}

test('the colour of what is gone is for nothing else, and is explained where such boxes have a width', () => {
	const colorOf = (relative: number) => {
		const color = changeColor({ relative, points: 0, isNoise: false }, 'red-blue', false);
		return [color >> 16, (color >> 8) & 255, color & 255];
	};
	const distance = (one: number, other: number) =>
		Math.max(...colorOf(one).map((part, i) => Math.abs(part - colorOf(other)[i]!)));
	for (const side of [1, -1]) {
		assert.ok(distance(side, 0.99 * side) > 20);
		assert.ok(distance(0.99 * side, 0.5 * side) > 20);
	}
	const texts = (hasNew: boolean, hasGone: boolean) =>
		changeLegend('red-blue', false, hasNew, hasGone).map(({ text }) => text);
	assert.deepEqual(texts(true, false), ['new', 'twice as much', 'unchanged or noise', 'half']);
	assert.deepEqual(texts(false, true), ['twice as much', 'unchanged or noise', 'half', 'gone']);
});

test('stacks begin with their process', () => {
	assert.deepEqual(shown(WEB, {})[0], [
		'cron 1 0', 'cron;main 1 0', 'cron;main;parse 1 1',
		'web 9 0', 'web;main 9 0', 'web;main;parse 5 3', 'web;main;parse;read 2 2', 'web;main;write 4 4',
	]);
});

test('stacks that are turned round end with their process', () => {
	assert.deepEqual(shown(WEB, { bottomUp: true })[0], [
		'parse 4 0', 'parse;main 4 0', 'parse;main;cron 1 1', 'parse;main;web 3 3',
		'read 2 0', 'read;parse 2 0', 'read;parse;main 2 0', 'read;parse;main;web 2 2',
		'write 4 0', 'write;main 4 0', 'write;main;web 4 4',
	]);
});

test('chosen labels stay above stacks that are turned round', () => {
	assert.deepEqual(shown('a,pod=x;f;g 2\nb,pod=y;f;g 3', { bottomUp: true, group: ['pod', 'comm'] })[0], [
		'x 2 0', 'x;a 2 0', 'x;a;g 2 0', 'x;a;g;f 2 2',
		'y 3 0', 'y;b 3 0', 'y;b;g 3 0', 'y;b;g;f 3 3',
	]);
});

test('samples without a label are grouped, too', () => {
	assert.deepEqual(shown('a,pod=x;f 2\nb;f 3', { group: ['pod'] })[0], [
		'[no pod] 3 0', '[no pod];f 3 3', 'x 2 0', 'x;f 2 2',
	]);
});

test('a hidden function gives its place to its callees', () => {
	assert.deepEqual(shown('a;f;g;h 1\na;f;h 2', { hide: ['g'] })[0], ['a 3 0', 'a;f 3 0', 'a;f;h 3 3']);
	assert.deepEqual(shown('a;f;g 1', { hide: ['g'], bottomUp: true })[0], ['f 1 0', 'f;a 1 1']);
});

test('stacks can be left out, or isolated', () => {
	assert.deepEqual(shown(WEB, { drop: ['parse'] })[0], ['web 4 0', 'web;main 4 0', 'web;main;write 4 4']);
	assert.deepEqual(shown(WEB, { only: ['read', 'parse'] })[0]!.at(-1), 'web;main;parse;read 2 2');
	assert.deepEqual(shown(WEB, { only: ['nothing'] })[0], []);
});

test('the kernel can be alone', () => {
	assert.deepEqual(shown(WEB, { kernel: 'only' })[0], ['web 6 0', 'web;read 2 2', 'web;write 4 4']);
});

test('the hidden kernel leaves a mark where nothing else is', () => {
	assert.deepEqual(shown('a;f;k_[k] 1\na;k_[k];l_[k] 2\na 4', { kernel: 'hide' })[0],
		['a 7 4', 'a;[kernel] 2 2', 'a;f 1 1']);
	assert.deepEqual(shown('a;f;k_[k] 1\na;k_[k];l_[k] 2', { kernel: 'hide', bottomUp: true })[0],
		['[kernel] 2 0', '[kernel];a 2 2', 'f 1 0', 'f;a 1 1']);
});

test('labels choose samples', () => {
	const labels = { comm: { include: [], exclude: ['web'] } };
	assert.deepEqual(shown(WEB, { labels })[0], ['cron 1 0', 'cron;main 1 0', 'cron;main;parse 1 1']);
});

test('a function has callers above and callees below', () => {
	assert.deepEqual(shown('a;f;g;h 1\nb;g;h 2\nb;g 3\nb;x 9', { pivot: 'g' }), [
		['h 3 3'],
		['b 5 5', 'f 1 0', 'f;a 1 1'],
	]);
});

test('a function that calls itself counts once', () => {
	assert.deepEqual(shown('a;f;g;f;h 5', { pivot: 'f' }), [['g 5 0', 'g;f 5 0', 'g;f;h 5 5'], ['a 5 5']]);
});

test('a function that is nowhere has no box', () => {
	assert.deepEqual(shown(WEB, { pivot: 'nowhere' }), [[], []]);
});

test('equal names in two files of code are two boxes, but not in a comparison', () => {
	assert.equal(shown('a;f@/x 1\na;f@/y 1', {})[0]!.length, 3);
	assert.deepEqual(shown('a;f@/x 2 1\na;f@/y 0 1', {})[0], ['a 2 0', 'a;f 2 2']);
});

test('a box that is only before is kept', () => {
	assert.deepEqual(shown('a;f 2 0\na;g 0 2', {})[0], ['a 2 0', 'a;f 0 0', 'a;g 2 2']);
});

test('a path finds its box in another tree, or the nearest one above', () => {
	const p = profile(WEB);
	const maker = new SceneMaker(p);
	const tree = maker.sceneOf(initialState(p)).parts[0]!.tree;
	const path = pathOf(tree, 7);
	const other = maker.sceneOf({ ...initialState(p), hide: ['read'] }).parts[0]!.tree;
	assert.equal(findPath(tree, path), 7);
	assert.deepEqual(pathOf(other, findPath(other, path)), path.slice(0, -1));
	assert.equal(findPath(other, [-5, 17]), 0);
});

test('a profile without samples has a root', () => {
	const raw = profile('a;f 1');
	assert.deepEqual(boxes(raw, new SceneMaker({ ...raw, sampleNode: new Int32Array(0) })
		.sceneOf(initialState(raw)).parts[0]!.tree), []);
});

test('all trees of the same samples have the same sum, whatever they show', () => {
	let seed = 7;
	const random = (n: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
	const lines = Array.from({ length: 400 }, () => {
		const frames = Array.from({ length: 1 + random(30) }, () => `f${random(9)}${random(4) ? '' : '_[k]'}`);
		return `p${random(3)},pod=x${random(4)};${frames.join(';')} ${1 + random(9)}`;
	});
	const p = profile(lines.join('\n'));
	const maker = new SceneMaker(p);
	for (const bottomUp of [false, true])
		for (const kernel of ['all', 'hide'] as const)
			for (const group of [null, [], ['pod'], ['pod', 'comm']])
				for (const hide of [[], ['f1', 'f2']]) {
					const { tree } = maker.sceneOf({ ...initialState(p), bottomUp, kernel, group, hide }).parts[0]!;
					assert.equal(tree.total[0], p.total);
					assert.equal(tree.self.reduce((a, b) => a + b, 0), p.total);
					assert.equal(tree.end[0], tree.n);
				}
});

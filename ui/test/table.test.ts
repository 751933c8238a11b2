// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { facetsOf, ownersOf } from '../src/model/facets.ts';
import type { Profile } from '../src/model/profile.ts';
import { SceneMaker } from '../src/model/scene.ts';
import { initialState } from '../src/model/state.ts';
import { labelTable, sorted, tableCsv, tableOf } from '../src/model/table.ts';
import type { Row } from '../src/model/table.ts';
import { profile } from './profile.ts';

function rows(p: Profile, by: string): Row[] {
	const tree = new SceneMaker(p).tableTree(initialState(p));
	return sorted(p, tableOf(p, tree, by), { column: 'self', isDescending: true });
}

function brief(list: Row[]): string[] {
	return list.map((row) => `${row.name} ${row.self} ${row.total}`);
}

test('a function counts once in a stack that has it twice', () => {
	assert.deepEqual(brief(rows(profile('a;f;g;f 5\na;f 2\nb;g 1\nb 4'), 'function')),
		['f 7 7', '[no stack] 4 4', 'g 1 6']);
});

test('the kernel has functions of its own', () => {
	assert.deepEqual(brief(rows(profile('a;f;f_[k] 2\na;f 1'), 'function')), ['f 2 2', 'f 1 3']);
});

test('functions of one name in two programs are two, with the place of each', () => {
	const p = profile('a;main@/bin/a 2\nb;main@/bin/b 1\nb;main@/bin/b;main@/bin/b 3');
	assert.deepEqual(rows(p, 'function').map((row) => `${row.name} ${row.place} ${row.self} ${row.total}`),
		['main /bin/b 4 4', 'main /bin/a 2 2']);
});

test('a comparison has one row for functions of one name', () => {
	assert.deepEqual(brief(rows(profile('a;main@/bin/a 2 1\nb;main@/bin/b 1 3'), 'function')), ['main 4 4']);
});

test('rows can be files of code', () => {
	assert.deepEqual(brief(rows(profile('a;f@/bin/a;g@/lib/c 2\na;h@/lib/c 1\na;i 1'), 'module')),
		['/lib/c 3 3', '[unknown] 1 1', '/bin/a 0 2']);
});

test('rows can be values of a label', () => {
	const p = profile('a,pod=x;f 2\na;f 1');
	const selection = new SceneMaker(p).selectionOf(initialState(p));
	assert.deepEqual(brief(labelTable(p, selection, 'pod')), ['x 2 2', '[no pod] 1 1']);
	assert.deepEqual(labelTable(p, selection, 'nothing'), []);
});

test('each column sorts in both ways', () => {
	const p = profile('a;f;g 5 1\na;h 1 3');
	const names = (column: 'name' | 'total' | 'change', isDescending: boolean) =>
		sorted(p, rows(p, 'function'), { column, isDescending }).map((row) => row.name);
	assert.deepEqual(names('name', false), ['f', 'g', 'h']);
	assert.deepEqual(names('name', true), ['h', 'g', 'f']);
	assert.deepEqual(names('total', true), ['h', 'f', 'g']);
	assert.deepEqual(names('change', true), ['h', 'f', 'g']);
});

test('a table of comma-separated values quotes names and starts no formula', () => {
	const csv = tableCsv(profile('a;f 1'), rows(profile('a;=cmd("x"),y 1\na;-1 2'), 'function'), 'function');
	assert.deepEqual(csv.split('\r\n'), ['function,kind,place,self,total', "'-1,native,,2,2",
		'"\'=cmd(""x""),y",native,,1,1', '']);
});

test('values of a label are counted as if it chose nothing', () => {
	const p = profile('a,pod=x;f 2\nb,pod=x;f 1\na,pod=y;g 4');
	const labels = { pod: { include: ['x'], exclude: [] } };
	const facets = facetsOf(p, new SceneMaker(p).selectionOf({ ...initialState(p), labels }), labels);
	const text = facets.map(({ label, values }) =>
		`${label}: ${values.map(({ word, total }) => `${word} ${total}`).join(', ')}`);
	assert.deepEqual(text, ['comm: a 2, b 1', 'pod: y 4, x 3']);
});

test('functions have owners', () => {
	const p = profile('a,pod=x;f 9\nb,pod=x;f 1\na,pod=y;g 4');
	assert.deepEqual(ownersOf(p, new SceneMaker(p).selectionOf(initialState(p)), 'f'), [
		{ label: 'comm', word: 'a', share: 0.9 }, { label: 'pod', word: 'x', share: 1 },
	]);
	assert.deepEqual(ownersOf(p, new SceneMaker(p).selectionOf(initialState(p)), 'nothing'), []);
});

// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { SceneMaker } from '../src/model/scene.ts';
import { matchesIn, matchingItems, matcherOf, NO_SEARCH, tryMatcher } from '../src/model/search.ts';
import type { Search } from '../src/model/search.ts';
import { initialState } from '../src/model/state.ts';
import { profile } from './profile.ts';

function found(search: Partial<Search>, names: string[]): string[] {
	return names.filter(matcherOf({ ...NO_SEARCH, ...search })!);
}

const NAMES = ['read', 'vfs_read', 'std::read(int)', 'Read', 'thread', 'a.b', 'aXb', 'größe', 'read$1'];

test('plain text is found anywhere, in any case', () => {
	assert.deepEqual(found({ text: 'read' }, NAMES),
		['read', 'vfs_read', 'std::read(int)', 'Read', 'thread', 'read$1']);
	assert.deepEqual(found({ text: 'a.b' }, NAMES), ['a.b']);
	assert.deepEqual(found({ text: '(int' }, NAMES), ['std::read(int)']);
});

test('Aa: the case matters', () => {
	assert.deepEqual(found({ text: 'Read', matchesCase: true }, NAMES), ['Read']);
});

test('ab|: words are whole', () => {
	assert.deepEqual(found({ text: 'read', wholeWord: true }, NAMES), ['read', 'std::read(int)', 'Read']);
	assert.deepEqual(found({ text: 'größe', wholeWord: true }, NAMES), ['größe']);
});

test('.*: the text is a regular expression', () => {
	assert.deepEqual(found({ text: '^(vfs_)?read$', isRegex: true, matchesCase: true }, NAMES), ['read', 'vfs_read']);
	assert.deepEqual(found({ text: 'a.b', isRegex: true }, NAMES), ['a.b', 'aXb']);
});

test('what is no regular expression says why', () => {
	for (const text of ['(', '[', '*', 'a{2,1}', '\\', '(?<', '\\u{110000}']) {
		const { matcher, error } = tryMatcher({ ...NO_SEARCH, text, isRegex: true });
		assert.equal(matcher, null, text);
		assert.notEqual(error, '', text);
		assert.equal(tryMatcher({ ...NO_SEARCH, text }).error, '', text);
	}
});

test('nothing is searched for with an empty text', () => {
	assert.equal(matcherOf(NO_SEARCH), null);
});

test('a stack with two matches counts once', () => {
	const p = profile('a;f;g;f 5\na;f 2\nb;g;x 3\nb;y 10');
	const { tree } = new SceneMaker(p).sceneOf(initialState(p)).parts[0]!;
	const matches = matchesIn(tree, matchingItems(p.items, (name) => name === 'f' || name === 'g'));
	assert.equal(matches.total, 10);
	assert.equal(matches.boxes.length, 4);
});

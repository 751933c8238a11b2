// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeOf } from '../src/model/diff.ts';
import { amount, count, counted, fitted, percent, points, sumOf, sumWord } from '../src/model/format.ts';
import { profileOf } from '../src/model/profile.ts';
import { fragmentOf, initialState, stateOf } from '../src/model/state.ts';
import type { State } from '../src/model/state.ts';
import { profile, rawOf } from './profile.ts';

const P = profile('a,pod=x;f 1 2');

test('one thing is not called by the word for several', () => {
	assert.deepEqual([0, 1, 2000].map((value) => counted(value, 'row')), ['0 rows', '1 row', '2,000 rows']);
});

test('a state survives its fragment', () => {
	const state: State = {
		bottomUp: true, isFlipped: true, pivot: 'f(a&b=c#d, "é")', group: ['pod', 'comm'], kernel: 'hide',
		hide: ['a', 'b,c'], drop: ['%00'], only: ['+'],
		labels: { pod: { include: ['x', '&'], exclude: ['y'] }, comm: { include: [], exclude: ['z'] } },
		zoom: { part: 1, node: 7, span: [0.25, 0.5] },
		search: { text: '.*=&', matchesCase: true, wholeWord: true, isRegex: true },
		side: 'before', palette: 'orange-blue', tab: 'both', by: 'module',
		order: { column: 'total', isDescending: false }, theme: 'dark', hasFacets: true,
	};
	assert.deepEqual(stateOf(`#${fragmentOf(state, initialState(P))}`, P), state);
});

test('a state that is the first one needs no fragment', () => {
	assert.equal(fragmentOf(initialState(P), initialState(P)), '');
	assert.deepEqual(stateOf('', P), initialState(P));
});

test('the first state is that of the options', () => {
	const raw = rawOf('a,pod=x;f 1');
	const p = profileOf({ ...raw, view: { bottom_up: true, kernel: 'only', group: ['pod'] } });
	const { bottomUp, kernel, group } = initialState(p);
	assert.deepEqual({ bottomUp, kernel, group }, { bottomUp: true, kernel: 'only', group: ['pod'] });
	assert.equal(stateOf(fragmentOf({ ...initialState(p), group: null }, initialState(p)), p).group, null);
});

test('a fragment that nobody wrote changes nothing', () => {
	for (const text of ['#%', '#zoom=-1', '#zoom=1e9', '#zoom=x', '#zoom=1:2-3', '#zoom=1:0.5-0.1', '#kernel=x',
		'#sort=-', '#palette=__proto__', '#label.__proto__=1', '#group=', '#width=', '#tab=2'.repeat(9)]) {
		const state = stateOf(text, P);
		assert.deepEqual({ ...state, zoom: null, group: null }, { ...initialState(P), zoom: null, group: null }, text);
		assert.equal(state.zoom.span, null);
	}
});

test('lists of a fragment are bounded', () => {
	const many = Array.from({ length: 5000 }, (_, i) => `hide=${i}`).join('&');
	const state = stateOf(`${many}&pivot=${'x'.repeat(1e5)}`, P);
	assert.equal(state.hide.length, 100);
	assert.equal(state.pivot.length, 5000);
});

test('data of another version are refused', () => {
	assert.throws(() => profileOf({ ...rawOf('a;f 1'), version: 2 }));
	assert.throws(() => profileOf({ ...rawOf('a;f 1'), format: 'x' }));
	const raw = rawOf('a;f 1');
	assert.throws(() => profileOf({ ...raw, nodes: { ...raw.nodes, parent: [0, -5] } }));
	assert.throws(() => profileOf({ ...raw, nodes: { ...raw.nodes, parent: [0, 0] } }));
});

test('a small change of few samples is noise', () => {
	const p = profile('a;f 1 3\na;g 500 900\na;h 499 97');
	assert.equal(changeOf(p, 1, 3).isNoise, true);
	assert.equal(changeOf(p, 500, 900).isNoise, false);
	assert.equal(changeOf(p, 0, 90).relative, 1);
	assert.equal(changeOf(p, 90, 0).relative, -1);
	assert.equal(Math.round(changeOf(p, 500, 900).points), 40);
});

test('one or two samples are noise on sides of any length', () => {
	for (const [before, after] of [[1458, 121], [121, 1458], [100000, 100]] as const) {
		const p = profile(`a;f ${before} ${after}`);
		for (const n of [1, 2]) {
			assert.equal(changeOf(p, 0, n).isNoise, true);
			assert.equal(changeOf(p, n, 0).isNoise, true);
		}
	}
	assert.equal(changeOf(profile('a;f 2400 200'), 24, 10).isNoise, false);
});

test('equal shares do not change by rounding', () => {
	const p = profile('a;f 49 1');
	p.comparison!.hasNoise = false;
	assert.equal(changeOf(p, 49, 1).isNoise, true);
	assert.equal(changeOf(p, 49, 1).relative, 0);
});

test('names lose namespaces and packages first', () => {
	assert.equal(fitted('clang::Parser::ParseStatement', 'native', 29), 'clang::Parser::ParseStatement');
	assert.equal(fitted('clang::Parser::ParseStatement', 'native', 28), '…::Parser::ParseStatement');
	assert.equal(fitted('clang::Parser::ParseStatement', 'native', 22), 'Parser::ParseStatement');
	assert.equal(fitted('clang::Parser::ParseStatement', 'native', 15), 'ParseStatement');
	assert.equal(fitted('clang::Parser::ParseStatement', 'native', 8), 'ParseSt…');
	assert.equal(fitted('github.com/a/b.Call', 'go', 7), 'b.Call');
	assert.equal(fitted('github.com/a/bc.Call', 'go', 10), 'a/bc.Call');
	assert.equal(fitted('github.com/org/b.Call', 'go', 8), '…/b.Call');
	assert.equal(fitted('github.com/a/b.(*T).Call', 'go', 9), '(*T).Call');
	assert.equal(fitted('java.util.HashMap.put', 'jvm', 12), 'HashMap.put');
	assert.equal(fitted('core::ops::call', 'rust', 4), 'call');
});

test('names whose shape tells their packages lose them as well', () => {
	assert.equal(fitted('net/http.(*conn).serve', 'native', 13), '(*conn).serve');
	assert.equal(fitted('gopkg.in/yaml.v3.Unmarshal', 'native', 10), 'Unmarshal');
	assert.equal(fitted('java/util/HashMap.put(int)', 'native', 16), 'HashMap.put(int)');
	assert.equal(fitted('java.util.HashMap.put', 'native', 12), 'HashMap.put');
	assert.equal(fitted('django.db.models.Query.get', 'native', 10), 'Query.get');
	assert.equal(fitted('copy.isra.0.constprop.1', 'native', 12), 'copy.isra.0…');
	assert.equal(fitted('/usr/lib/libc.so.6', 'native', 12), '/usr/lib/li…');
	assert.equal(fitted('work (shop/cart.py:12)', 'native', 12), 'work (shop/…');
	assert.equal(fitted('kworker/0:1-events', 'native', 12), 'kworker/0:1…');
});

test('names without namespaces lose their end', () => {
	assert.equal(fitted('main', 'native', 4), 'main');
	assert.equal(fitted('main', 'native', 3), 'ma…');
	assert.equal(fitted('main', 'native', 2), '');
	assert.equal(fitted('files', 'python', 4), 'fil…');
	assert.equal(fitted('copy_file.part.0', 'native', 10), 'copy_file…');
	assert.equal(fitted('kworker/0:1', 'label', 8), 'kworker…');
	assert.equal(fitted('name::', 'native', 5), 'name…');
	assert.equal(fitted('漢字漢字', 'native', 5), '漢字…');
	assert.equal(fitted('漢字', 'native', 4), '漢字');
});

test('arguments have no namespaces', () => {
	assert.equal(fitted('std::vector<a::b>::push(c::d)', 'native', 10), 'push(c::d)');
	assert.equal(fitted('std::vector<a::b>::push(c::d)', 'native', 8), 'push(c:…');
	assert.equal(fitted('void std::sort<int>(a::b)', 'native', 9), 'sort<int…');
	assert.equal(fitted('a::P::operator->() const::x', 'native', 4), '…::x');
	assert.equal(fitted('a::operator<(b::c)', 'native', 12), 'operator<(b…');
	assert.equal(fitted('>)a::b(((', 'native', 4), 'b(((');
});

test('numbers have commas between thousands', () => {
	assert.deepEqual([0, 7.4, 999, 1000, 23456.5, 1234567].map(count),
		['0', '7', '999', '1,000', '23,457', '1,234,567']);
});

test('sums say what they are', () => {
	const textOf = (of: Partial<typeof P>) => `${sumOf({ ...P, ...of }, 184965546)} ${sumWord({ ...P, ...of })}`;
	assert.equal(textOf({}), '184,965,546 samples');
	assert.equal(textOf({ periodNs: 0, values: 'nanoseconds', type: 'off_cpu' }), '185 ms of all threads');
	assert.equal(textOf({ periodNs: 0, values: 'bytes', type: 'rss_growth' }), '185 MB of growth');
	assert.equal(textOf({ periodNs: 0, values: 'objects', type: 'alloc_objects' }), '184,965,546 objects');
});

test('numbers are short', () => {
	assert.equal(percent(1, 3), '33.3 %');
	assert.equal(percent(1, 100000), '< 0.01 %');
	assert.equal(percent(0, 0), '0.00 %');
	assert.equal(points(1.234), '+1.23');
	assert.equal(points(-1.234), '\u22121.23');
	assert.equal(points(-0.001), '0.00');
	assert.equal(amount(P, 250), '2.50 s');
	assert.equal(amount({ ...P, periodNs: 0, values: 'contentions' }, 1234), '1,234 contentions');
	const memory = { ...P, periodNs: 0, values: 'bytes' };
	assert.deepEqual([0, 999, 1234, 66436628, 2.5e12].map((value) => amount(memory, value)),
		['0 B', '999 B', '1.23 KB', '66.4 MB', '2500 GB']);
});

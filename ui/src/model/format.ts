// SPDX-License-Identifier: Apache-2.0
/* Numbers for people. */
import type { Profile } from './profile.ts';

/** With commas between thousands. toLocaleString() would load the rules of a language first: 10 ms. */
export function count(value: number): string {
	return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number of things: "1 row", "2,000 rows". */
export function counted(value: number, word: string): string {
	return `${count(value)} ${word}${value === 1 ? '' : 's'}`;
}

export function percent(part: number, all: number): string {
	const share = all > 0 ? (100 * part) / all : 0;
	if (share > 0 && share < 0.01)
		return '< 0.01 %';
	return `${share.toFixed(share < 10 ? 2 : 1)} %`;
}

export function points(change: number): string {
	const text = Math.abs(change) < 0.005 ? '0.00' : change.toFixed(2);
	return change > 0 && text !== '0.00' ? `+${text}` : text.replace('-', '\u2212');
}

function seconds(value: number): string {
	if (value === 0)
		return '0 s';
	if (value >= 100)
		return `${count(value)} s`;
	if (value >= 1)
		return `${value.toFixed(2)} s`;
	return `${(value * 1000).toFixed(value >= 0.01 ? 0 : 1)} ms`;
}

const BYTE_UNITS: [number, string][] = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'KB']];

function bytes(value: number): string {
	for (const [size, unit] of BYTE_UNITS) {
		const amount = value / size;
		if (amount >= 1)
			return `${amount.toFixed(amount < 10 ? 2 : amount < 100 ? 1 : 0)} ${unit}`;
	}
	return `${count(value)} B`;
}

/** Whether values are times. */
export function isTime(profile: Profile): boolean {
	return profile.values === 'nanoseconds';
}

/** A time, or a number of values. */
export function amount(profile: Profile, value: number): string {
	if (isTime(profile))
		return seconds(value / 1e9);
	if (profile.periodNs > 0)
		return seconds((value * profile.periodNs) / 1e9);
	if (profile.values === 'bytes')
		return bytes(value);
	return counted(value, profile.values.replace(/s$/, ''));
}

const BYTES_WORDS: Record<string, string> = {
	rss_growth: 'of growth', alloc_space: 'allocated', inuse_space: 'in use',
};

/** A sum over all samples, as people read it, and what it is. */
export function sumOf(profile: Profile, value: number): string {
	return isTime(profile) || profile.values === 'bytes' ? amount(profile, value) : count(value);
}

export function sumWord(profile: Profile): string {
	return isTime(profile) ? 'of all threads' : BYTES_WORDS[profile.type] ?? profile.values;
}

/** "12 samples", unless amount() says it already. */
export function values(profile: Profile, value: number): string {
	return profile.periodNs > 0 ? counted(value, profile.values.replace(/s$/, '')) : '';
}

/** A cell of comma-separated values (RFC 4180) that no spreadsheet takes for a formula. */
export function csvCell(text: string): string {
	const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
	return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/* Columns of a fixed-width font that a text has, or more. */
function columns(text: string): number {
	if (/^[\x20-\x7e]*$/.test(text))
		return text.length;
	let sum = 0;
	for (const character of text)
		sum += character.codePointAt(0)! < 0x300 ? 1 : 2;
	return sum;
}

/* Names of other kinds have dots and slashes that do not end a package: "copy.part.0", "kworker/0:1". */
const DOTTED = new Set(['go', 'jvm', 'javascript', 'python', 'jit']);
/* Folded text of other programs does not tell the language. There, a function of a package has a path before it
 * ("net/http.(*conn).serve"), and a method has its class ("java.util.HashMap.get"). */
const PATH = /^[A-Za-z][\w.~-]*\/(?:[\w.~-]+\/)*[A-Za-z_][\w-]*\.[\w(*$<]/;
const METHOD = /^(?:[a-z]\w*\.)+[A-Z][\w$]*\.[\w$<]/;
const MARKS = /->|::|[./]+|[<>()[\]{}]/g;

function hasPackages(name: string, kind: string): boolean {
	return DOTTED.has(kind) || (kind === 'native' && (PATH.test(name) || METHOD.test(name)));
}

/* The separators of a name's packages, namespaces and classes: where each begins, and the rest behind it. Arguments
 * in brackets have none. */
function* separators(name: string, isDotted: boolean): Generator<{ separator: string; rest: string }> {
	let depth = 0;
	for (const { 0: mark, index } of name.matchAll(MARKS)) {
		const rest = name.slice(index + mark.length);
		if ('<([{'.includes(mark))
			depth++;
		else if ('>)]}'.includes(mark))
			depth = Math.max(depth - 1, 0);
		else if (depth === 0 && rest && (mark === '::' || (isDotted && mark !== '->')))
			yield { separator: mark, rest };
	}
}

/* As much of the beginning as fits. */
function cut(text: string, room: number): string {
	let left = room - 1;
	let kept = '';
	for (const character of text) {
		left -= columns(character);
		if (left < 0)
			break;
		kept += character;
	}
	return `${kept}…`;
}

/** A name that fits, or ''. It loses packages and namespaces first, then its end. */
export function fitted(name: string, kind: string, room: number): string {
	if (columns(name) <= room)
		return name;
	if (room < 3)
		return '';
	let last = name;
	for (const { separator, rest } of separators(name, hasPackages(name, kind))) {
		const width = columns(rest);
		if (width <= room)
			return width + 1 + separator.length <= room ? `…${separator}${rest}` : rest;
		last = rest;
	}
	return cut(last, room);
}

// SPDX-License-Identifier: Apache-2.0
/* Selectors as text: {namespace="shop",pod=~"web.*"}. They are checked by the server. */

const TERM = /\s*([\w.\-/]+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)/y;

export interface Term {
	label: string;
	operator: string;
	/** As it is written, with escapes. */
	value: string;
}

/** The terms of a selector, or null if it is none. */
export function termsOf(text: string): Term[] | null {
	const found = /^\s*\{([^]*)\}\s*$/.exec(text);
	if (text.trim() === '')
		return [];
	if (!found)
		return null;
	const terms: Term[] = [];
	const inner = found[1]!;
	TERM.lastIndex = 0;
	while (TERM.lastIndex < inner.length) {
		const term = TERM.exec(inner);
		if (!term)
			return inner.slice(terms.length ? -1 : 0).trim() === '' ? terms : null;
		terms.push({ label: term[1]!, operator: term[2]!, value: term[3]! });
	}
	return terms;
}

export function textOf(terms: readonly Term[]): string {
	if (terms.length === 0)
		return '';
	return `{${terms.map(({ label, operator, value }) => `${label}${operator}"${value}"`).join(',')}}`;
}

function plain(value: string): string {
	return value.replace(/\\(.)/g, '$1');
}

/** Whether a label's value fits a term. A regular expression that this browser cannot read fits all. */
export function matches({ operator, value }: Term, actual: string): boolean {
	if (operator === '=' || operator === '!=')
		return (plain(value) === actual) === (operator === '=');
	try {
		return new RegExp(`^(?:${plain(value)})$`).test(actual) === (operator === '=~');
	} catch {
		return true;
	}
}

export function escaped(value: string): string {
	return value.replace(/[\\"]/g, '\\$&');
}

/** The selector with a label that has one value; '' takes the label away. */
export function withLabel(text: string, label: string, value: string): string {
	const others = (termsOf(text) ?? []).filter((term) => term.label !== label);
	return textOf(value ? [...others, { label, operator: '=', value: escaped(value) }] : others);
}

/** The value of a label that is to be equal to it, or ''. */
export function valueOf(text: string, label: string): string {
	const term = (termsOf(text) ?? []).find((one) => one.label === label && one.operator === '=');
	return term ? plain(term.value) : '';
}

/** Whether only hosts are selected, of which alone the kernel's counters are known. */
export function isOfHosts(text: string): boolean {
	return (termsOf(text) ?? [{ label: '' }]).every(({ label }) => label === 'host');
}

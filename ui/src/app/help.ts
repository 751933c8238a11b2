// SPDX-License-Identifier: Apache-2.0
/* The list of keys. */
import { button, el } from '../dom.ts';

const KEYS: [string, string][] = [
	['click, Enter', 'zoom to a box'],
	['Shift-click, p', 'callers and callees of a function'],
	['right click, m', 'menu of a box'],
	['arrows', 'walk from box to box'],
	['0, Esc', 'show all of the width; then leave callers and search'],
	['+ \u2212, Ctrl-wheel', 'wider and narrower'],
	['Shift-arrows, drag', 'move sideways'],
	['Backspace', 'back'],
	['/, Ctrl-F', 'search'],
	['n, N', 'next and previous match'],
	['h', 'hide the function: its callees stay'],
	['x', 'leave out all stacks with the function'],
	['o', 'only stacks with the function'],
	['u', 'undo all that narrows the view'],
	['c', 'copy the name'],
	['b', 'bottom-up: begin with the functions that ran'],
	['i', 'root at the bottom'],
	['k', 'kernel: with, only, hidden'],
	['l', 'labels'],
	['t', 'graph, table, both, call graph'],
	['w, v', 'comparison: width before or after, other colors'],
	['s', 'save a picture'],
	['d', 'light, dark, as the system'],
];

export class Help {
	readonly element = el('dialog', { class: 'help', attributes: { 'aria-label': 'Keys' } });

	constructor(more: readonly [string, string][]) {
		const listOf = (keys: readonly [string, string][]) => el('dl', {}, ...keys.flatMap(([key, text]) =>
			[el('dt', {}, el('kbd', { text: key })), el('dd', { text })]));
		this.element.append(el('h2', { text: 'Keys' }),
			el('div', { class: 'lists' }, more.length > 0 && listOf(more), listOf(KEYS)),
		button('Close', '', () => this.element.close(), 'close'));
	}

	toggle() {
		if (this.element.open)
			this.element.close();
		else
			this.element.showModal();
	}
}

// SPDX-License-Identifier: Apache-2.0
/* The title, and the totals of what is shown. */
import { el } from '../dom.ts';
import { amount, count, percent, sumOf, sumWord } from '../model/format.ts';
import { changeLegend, css, legendOf } from '../model/colors.ts';
import type { Profile } from '../model/profile.ts';
import type { State } from '../model/state.ts';
import type { Totals } from '../model/totals.ts';

export class Header {
	private readonly totals = el('div', { class: 'totals' });
	readonly legend = el('div', { class: 'legend' });
	readonly element: HTMLElement;

	constructor(private readonly profile: Profile) {
		const { title, origin, truncatedStacks } = profile;
		const cut = truncatedStacks ? `${count(truncatedStacks)} stacks are cut, as there are too many.` : '';
		const note = [profile.note, cut].filter(Boolean).join(' ');
		this.element = el('header', {},
			el('div', {}, el('h1', { text: title }), el('p', { class: 'origin', text: origin }),
				note ? el('p', { class: 'note', text: note }) : null),
			this.totals);
	}

	show(totals: Totals, isDark: boolean, state: State) {
		const { profile } = this;
		const { total, before, kernel, truncated } = totals;
		const cpus = (value: number, perCount: number) => (value * perCount).toFixed(2);
		const perCount = profile.durationNs > 0 ? profile.periodNs / profile.durationNs : 0;
		const card = (value: string, text: string) => el('span', {}, el('b', { text: value }), ` ${text}`);
		const arrow = ' \u2192 ';
		const isDiff = profile.comparison !== null;
		const busy = (isDiff ? cpus(before, profile.comparison!.cpusBefore) + arrow : '') + cpus(total, perCount);
		this.totals.replaceChildren(
			...(profile.periodNs > 0 && !isDiff ? [card(amount(profile, total), 'CPU time')] : []),
			...(perCount > 0 ? [card(busy, 'CPUs busy on average')] : []),
			card((isDiff ? sumOf(profile, before) + arrow : '') + sumOf(profile, total), sumWord(profile)),
			...(total < profile.total ? [card(percent(total, profile.total), 'of all')] : []),
			card(percent(kernel, total), 'in the kernel'),
			...(truncated > 0 ? [card(percent(truncated, total), 'with truncated stacks')] : []));
		const hasBoth = state.tab === 'calls';
		const entries = isDiff ? changeLegend(state.palette, isDark, hasBoth || state.side === 'after',
			hasBoth || state.side === 'before') : legendOf(profile.items, isDark);
		this.legend.replaceChildren(...entries.map(({ text, color }) => {
			const dot = el('i');
			dot.style.background = css(color);
			return el('span', {}, dot, text);
		}));
	}
}

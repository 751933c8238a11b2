// SPDX-License-Identifier: Apache-2.0
/* All events of the record, or the peaks of its timeline. A click selects one. */
import { rove } from '../app/rove.ts';
import { button, el } from '../dom.ts';
import { clock, day, duration } from '../model/record/axis.ts';
import { isChosen } from '../model/record/events.ts';
import type { RecordEvent } from '../model/record/events.ts';
import type { Range } from '../model/record/range.ts';

export interface EventsViewEvents {
	select(range: Range): void;
	/** Only the samples of the event's subject. */
	choose(range: Range, q: string): void;
	/** All samples again. */
	all(): void;
}

export class EventsView {
	readonly element: HTMLElement;
	private readonly body = el('tbody');
	private readonly left = el('p', { class: 'sum', hidden: true });
	private readonly none = el('p', { class: 'sum', hidden: true,
		text: 'The record has no events. The agent looks for them after its first minute; "worst" jumps to peaks.' });

	constructor(private readonly events: EventsViewEvents) {
		const head = ['Score', 'From', 'Length', 'What', '', 'Host'].map((text) => el('th', { text }));
		this.element = el('section', { class: 'panel lists', attributes: { 'aria-label': 'Events' } },
			el('p', { class: 'hint', text: 'Unusual seconds that the agent noticed: the worst first. ' +
				'A click selects one; r compares it with the time before it.' }),
			el('div', { class: 'list' }, this.none, this.left, el('table', { class: 'events' },
				el('thead', {}, el('tr', {}, ...head)), this.body)));
		rove(this.body, 'tr');
	}

	/** Events that the selector leaves out are grey, below the others. */
	show(events: readonly RecordEvent[], q: string, selection: Range) {
		const sorted = [...events].sort((a, b) => b.score - a.score);
		const chosen = sorted.filter((event) => isChosen(event, q));
		const others = sorted.filter((event) => !isChosen(event, q));
		this.none.hidden = events.length > 0;
		this.showLeft(chosen.length, others.length);
		this.body.replaceChildren(...chosen.map((event) => this.row(event, selection, '')),
			...others.map((event) => this.row(event, selection, 'other')));
	}

	private showLeft(nrChosen: number, nrOthers: number) {
		const are = nrOthers === 1 ? 'One event is' : `${nrOthers} events are`;
		this.left.hidden = nrOthers === 0;
		this.left.replaceChildren(`${nrChosen === 0 ? 'No event is of the chosen samples. ' : ''}${are} ` +
			'of other samples, or of the whole node: grey below. The keys skip what is grey. ',
		button('All samples', 'Without the selector', () => this.events.all()));
	}

	private row(event: RecordEvent, selection: Range, kind: string): HTMLElement {
		const range = { from: event.first, to: Math.max(event.end, event.first + 1) };
		const isSelected = range.from === selection.from && range.to === selection.to;
		const row = el('tr', { class: `${isSelected ? 'selected' : ''} ${kind}`,
			onclick: () => this.events.select(range),
			attributes: { tabindex: '0', 'data-event': event.id } },
		el('td', { class: 'cpus', text: event.score.toFixed(1) }),
		el('td', { text: `${day(event.first)} ${clock(event.first)}` }),
		el('td', { text: duration(event.end - event.first) + (event.open ? ' so far' : '') }),
		el('td', { text: event.text, title: event.text }),
		el('td', {}, event.selector && this.onlyIts(event, range)), el('td', { text: event.host }));
		row.onkeydown = (press) => press.key === 'Enter' && press.target === row && this.events.select(range);
		return row;
	}

	private onlyIts(event: RecordEvent, range: Range): HTMLElement {
		return button('only its samples', `Only ${event.selector}, in the whole record`, (click) => {
			click.stopPropagation();
			this.events.choose(range, event.selector);
		});
	}
}

// SPDX-License-Identifier: Apache-2.0
/* A panel below the timeline that lists what the server says of the selection. */
import { rove } from '../app/rove.ts';
import { el } from '../dom.ts';
import { Latest } from './api.ts';
import type { Api, Parameters } from './api.ts';
import { Overlay } from './overlay.ts';
import type { Nothing } from './overlay.ts';

export class ListPanel<T> {
	readonly element: HTMLElement;
	private readonly body = el('div', { class: 'list' });
	private readonly overlay: Overlay;
	private readonly latest = new Latest();
	private shown = '';

	/** `explanation`: one line for people who see it for the first time. */
	constructor(
		private readonly api: Api, private readonly path: string, name: string, explanation: string,
		private readonly content: (answer: T) => Node[], private readonly nothing: () => Nothing,
	) {
		this.element = el('section', { class: 'panel lists', attributes: { 'aria-label': name } },
			el('p', { class: 'hint', text: explanation }), this.body);
		this.overlay = new Overlay(this.element);
		rove(this.body, 'tr, article');
	}

	get isWaiting(): boolean {
		return this.overlay.isWaiting;
	}

	show(query: Parameters) {
		const key = this.api.url(this.path, query);
		if (key === this.shown)
			return;
		this.shown = key;
		void this.overlay.during(async () => {
			const answer = await this.api.get<T>(this.path, query, this.latest.next());
			this.body.replaceChildren(...this.content(answer));
			this.body.scrollTop = 0;
		}, this.nothing, () => this.body.replaceChildren());
	}
}

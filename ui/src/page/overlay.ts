// SPDX-License-Identifier: Apache-2.0
/* What a panel shows instead of its content: that it waits, has nothing, or failed. */
import { button, el } from '../dom.ts';
import { ApiError, isAborted } from './api.ts';

const PATIENCE_MS = 200; // what is faster than this does not flicker

export interface Action {
	text: string;
	run: () => void;
}

/** What is said of a selection without samples, and what can be done. An empty text: what the server
 * says. */
export interface Nothing {
	text: string;
	actions: Action[];
}

const NOTHING: Nothing = { text: '', actions: [] };

export class Overlay {
	readonly element = el('div', { class: 'overlay', hidden: true, attributes: { role: 'status' } });
	/** An answer has not come yet. */
	isWaiting = false;
	private timer = 0;

	constructor(private readonly panel: HTMLElement) {
		panel.append(this.element);
	}

	/** Waits for an answer. What is there stays visible until then, and is emptied by `empty` if there
	 * is none. */
	async during(work: () => Promise<void>, nothing: () => Nothing = () => NOTHING,
		empty: () => void = () => undefined) {
		clearTimeout(this.timer);
		this.isWaiting = true;
		this.timer = window.setTimeout(() => this.panel.classList.add('waits'), PATIENCE_MS);
		try {
			await work();
			this.done();
		} catch (error) {
			if (isAborted(error))
				return;
			this.done();
			if (!(error instanceof ApiError))
				throw error;
			empty();
			const { text, actions } = nothing();
			const again = { text: 'Try again', run: () => void this.during(work, nothing, empty) };
			if (error.isEmpty)
				this.say(text || error.message, actions);
			else
				this.say(error.message, [again, ...actions], true);
		}
	}

	say(text: string, actions: Action[], isFault = false) {
		const sentence = text && text[0]!.toUpperCase() + text.slice(1);
		this.element.className = isFault ? 'overlay fault' : 'overlay';
		this.element.replaceChildren(
			el('p', { text: /[.!?]$/.test(sentence) ? sentence : `${sentence}.` }),
			el('div', { class: 'set' }, ...actions.map((one) => button(one.text, '', one.run))));
		this.element.hidden = false;
	}

	private done() {
		this.isWaiting = false;
		clearTimeout(this.timer);
		this.panel.classList.remove('waits');
		this.element.hidden = true;
	}
}

// SPDX-License-Identifier: Apache-2.0
/* A menu at a place of the window. Arrow keys walk through it, Escape closes it. */
import { el } from '../dom.ts';

export interface Entry {
	text: string;
	key?: string;
	run: () => void;
}

export class Menu {
	readonly element = el('div', { class: 'menu', hidden: true, attributes: { role: 'menu' } });
	private before: Element | null = null;

	constructor(signal: AbortSignal) {
		this.element.onkeydown = (event) => this.onKey(event);
		document.addEventListener('pointerdown', (event) => {
			if (!this.element.contains(event.target as Node))
				this.close();
		}, { signal });
	}

	get isOpen(): boolean {
		return !this.element.hidden;
	}

	open(title: string, entries: Entry[], x: number, y: number) {
		this.before = document.activeElement;
		const buttons = entries.map(({ text, key, run }) => {
			const onclick = () => {
				this.close();
				run();
			};
			return el('button', { type: 'button', onclick, attributes: { role: 'menuitem', tabindex: '-1' } },
				el('span', { text }), key ? el('kbd', { text: key }) : null);
		});
		this.element.replaceChildren(el('div', { class: 'title', text: title }), ...buttons);
		this.element.hidden = false;
		const { width, height } = this.element.getBoundingClientRect();
		this.element.style.left = `${Math.max(Math.min(x, window.innerWidth - width - 4), 4)}px`;
		this.element.style.top = `${Math.max(Math.min(y, window.innerHeight - height - 4), 4)}px`;
		this.element.querySelector('button')?.focus();
	}

	close() {
		if (!this.isOpen)
			return;
		this.element.hidden = true;
		if (this.before instanceof HTMLElement)
			this.before.focus();
	}

	private onKey(event: KeyboardEvent) {
		const entries = [...this.element.querySelectorAll('button')];
		const at = entries.indexOf(document.activeElement as HTMLButtonElement);
		const steps: Record<string, number> = {
			ArrowDown: at + 1, ArrowUp: at - 1 + entries.length, Home: 0, End: entries.length - 1,
		};
		const to = steps[event.key];
		event.stopPropagation();
		if (to !== undefined)
			entries[to % entries.length]?.focus();
		else if (event.key === 'Escape' || event.key === 'Tab')
			this.close();
		else
			return;
		event.preventDefault();
	}
}

// SPDX-License-Identifier: Apache-2.0
/* A line at the end of the page that says what the record, or what is shown of it, lacks. */
import { button, el } from '../dom.ts';

/** Each warning once. `ofRecord`: sentences. `ofAnswers`: for each answer its sentences, joined; those of
 * the record may be among them. */
export function warningsOf(ofRecord: readonly string[], ofAnswers: readonly string[]): string[] {
	const known = [...new Set(ofRecord)];
	const rest = ofAnswers.map((text) => known.reduce((left, one) => left.replace(one, ''), text)
		.replace(/^[; ]+|[; ]+$/g, ''));
	return [...new Set([...known, ...rest])].filter(Boolean);
}

export class Warnings {
	readonly element = el('div', { class: 'warnings', hidden: true, attributes: { role: 'status' } });
	private toggle: HTMLButtonElement | null = null;
	private isOpen = false;
	private shown: readonly string[] = [];

	constructor() {
		new ResizeObserver(() => this.fit()).observe(this.element);
	}

	show(warnings: readonly string[]) {
		if (warnings.join('\n') === this.shown.join('\n'))
			return;
		this.shown = warnings;
		this.draw();
	}

	/* One line, as long as nobody asks for more. */
	private draw() {
		const { shown, isOpen } = this;
		const lines = (isOpen ? shown : shown.slice(0, 1)).map((text) => el('p', { text, title: text }));
		const more = isOpen ? 'less' : shown.length > 1 ? `all ${shown.length} warnings` : 'all of it';
		this.toggle = button(more, 'What the record, or what is shown of it, lacks', () => {
			this.isOpen = !this.isOpen;
			this.draw();
		}, 'warnings');
		this.element.hidden = shown.length === 0;
		this.element.classList.toggle('open', isOpen);
		this.element.replaceChildren(el('div', {}, ...lines), this.toggle);
		this.fit();
	}

	/* What is seen wholly needs no button. */
	private fit() {
		const line = this.element.querySelector('p');
		if (line && this.toggle)
			this.toggle.hidden = !this.isOpen && this.shown.length < 2 && line.scrollWidth <= line.clientWidth;
	}
}

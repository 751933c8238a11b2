// SPDX-License-Identifier: Apache-2.0
/* Elements are made by code and filled with text only, so no name can become markup. */

type Child = Node | string | null | false;

interface Properties {
	class?: string;
	id?: string;
	title?: string;
	type?: string;
	text?: string;
	href?: string;
	hidden?: boolean;
	disabled?: boolean;
	onclick?: (event: MouseEvent) => void;
	oninput?: (event: Event) => void;
	onchange?: (event: Event) => void;
	onkeydown?: (event: KeyboardEvent) => void;
	/** ARIA and data attributes, role and tabindex. */
	attributes?: Record<string, string>;
}

export function el<K extends keyof HTMLElementTagNameMap>(
	name: K, properties: Properties = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
	const element = document.createElement(name);
	const { class: className, text, attributes, ...rest } = properties;
	Object.assign(element, rest);
	if (className)
		element.className = className;
	if (text !== undefined)
		element.textContent = text;
	for (const [key, value] of Object.entries(attributes ?? {}))
		element.setAttribute(key, value);
	element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
	return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
	name: K, attributes: Record<string, string>, ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
	const element = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.append(...children);
	return element;
}

export function button(
	text: string, title: string, onclick: (event: MouseEvent) => void, name = '',
): HTMLButtonElement {
	return el('button', { type: 'button', text, title, onclick, attributes: name ? { 'data-name': name } : {} });
}

export function setPressed(element: HTMLElement, isPressed: boolean) {
	element.setAttribute('aria-pressed', String(isPressed));
}

export function selectOf(
	title: string, options: [string, string][], onchange: (value: string) => void,
): HTMLSelectElement {
	const select = el('select', { title, attributes: { 'aria-label': title } });
	for (const [value, text] of options)
		select.append(el('option', { text, attributes: { value } }));
	select.onchange = () => onchange(select.value);
	return select;
}

/** Keeps drags over an element from moving a text that is selected in the page. The style sheet keeps
 * its own text from being selected. */
export function noTextDrag(element: HTMLElement) {
	element.classList.add('dragged-over');
	element.ondragstart = (event) => event.preventDefault();
}

/** Has the browser save a file. */
export function save(name: string, blob: Blob) {
	const url = URL.createObjectURL(blob);
	el('a', { href: url, attributes: { download: name } }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/** Copies a text; browsers that have no clipboard for files get it by a selection. */
export async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const field = el('textarea', { class: 'outside' });
		field.value = text;
		document.body.append(field);
		field.select();
		// eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way without a clipboard
		const isCopied = document.execCommand('copy');
		field.remove();
		return isCopied;
	}
}

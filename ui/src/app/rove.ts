// SPDX-License-Identifier: Apache-2.0
/* Makes many controls one stop of the Tab key: the arrow keys lead from one to the other, as ARIA's
 * toolbars and grids have it. Fields and lists stay stops of their own, as they need these keys. */

const CONTROLS = 'button, [tabindex]:is(tr, li)';

function controlsOf(container: Element): HTMLElement[] {
	return [...container.querySelectorAll<HTMLElement>(CONTROLS)]
		.filter((one) => !one.closest('[hidden]') && !(one instanceof HTMLButtonElement && one.disabled));
}

/* The control at the same place of the next row that has any. */
function inRow(container: HTMLElement, rows: string, from: HTMLElement, step: 1 | -1): HTMLElement | undefined {
	const all = [...container.querySelectorAll<HTMLElement>(rows)];
	const controls = all.map((row) => [...(row.matches(CONTROLS) ? [row] : []), ...controlsOf(row)]);
	const row = controls.findIndex((some) => some.includes(from));
	const place = controls[row]?.indexOf(from) ?? 0;
	for (let at = row + step; row >= 0 && at >= 0 && at < all.length; at += step) {
		const some = controls[at]!;
		if (some.length > 0)
			return some[Math.min(place, some.length - 1)];
	}
	return undefined;
}

/* The control to which a key leads. */
function target(container: HTMLElement, rows: string, from: HTMLElement, key: string): HTMLElement | undefined {
	const controls = controlsOf(container);
	const at = controls.indexOf(from);
	if (rows && (key === 'ArrowDown' || key === 'ArrowUp'))
		return inRow(container, rows, from, key === 'ArrowDown' ? 1 : -1);
	const places: Record<string, number> = {
		ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: controls.length - 1,
	};
	return controls[places[key] ?? -1];
}

/** `rows`: a selector of rows, between which up and down lead; '': there are none. */
export function rove(container: HTMLElement, rows = '') {
	let current: HTMLElement | null = null;
	const settle = () => {
		const controls = controlsOf(container);
		const pressed = rows ? undefined : controls.find((one) => one.getAttribute('aria-pressed') === 'true');
		const stop = current && controls.includes(current) ? current : pressed ?? controls[0];
		for (const one of controls)
			one.tabIndex = one === stop ? 0 : -1;
	};
	container.addEventListener('focusin', (event) => {
		current = (event.target as HTMLElement).closest<HTMLElement>(CONTROLS);
		settle();
	});
	container.addEventListener('keydown', (event) => {
		const from = event.target as HTMLElement;
		/* A button that was clicked leaves the arrow keys to the graph. */
		if (!from.matches(`:is(${CONTROLS}):focus-visible`) || event.ctrlKey || event.altKey || event.metaKey ||
			event.shiftKey || !/^(Arrow|Home|End)/.test(event.key) || (!rows && /Up|Down/.test(event.key)))
			return;
		target(container, rows, from, event.key)?.focus();
		event.preventDefault();
		event.stopPropagation();
	});
	new MutationObserver(settle).observe(container,
		{ childList: true, subtree: true, attributes: true, attributeFilter: ['disabled', 'hidden', 'aria-pressed'] });
	settle();
}

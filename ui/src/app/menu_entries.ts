// SPDX-License-Identifier: Apache-2.0
/* What can be done with a box or a row of the table. */
import { ownersOf } from '../model/facets.ts';
import type { Row } from '../model/table.ts';
import type { Box } from '../widget/graph.ts';
import type { App } from './app.ts';
import type { Entry } from './menu.ts';

const OWNERS_MAX = 5;

/** The value of a label that a box stands for. */
export function wordOf(name: string): string {
	return /^\[(no |unnamed)/.test(name) ? '' : name;
}

function functionEntries(app: App, name: string): Entry[] {
	return [
		{ text: 'Callers and callees', key: 'p', run: () => app.pivotOn(name) },
		{ text: 'Hide the function', key: 'h', run: () => app.narrow('hide', name) },
		{ text: 'Leave out stacks with it', key: 'x', run: () => app.narrow('drop', name) },
		{ text: 'Only stacks with it', key: 'o', run: () => app.narrow('only', name) },
		{ text: 'Search for it', run: () => app.searchFor(name) },
		{ text: 'Copy the name', key: 'c', run: () => void app.copyName(name) },
	];
}

/* "Only pod web-1": the labels that most stacks with the function have. */
function ownerEntries(app: App, name: string): Entry[] {
	return ownersOf(app.profile, app.maker.selectionOf(app.state), name)
		.filter(({ label, share }) => label !== 'cpu' && share >= 0.1 && !app.state.labels[label])
		.slice(0, OWNERS_MAX)
		.map(({ label, word, share }) => ({
			text: `Only ${label} ${word} (${Math.round(100 * share)} % of its stacks)`,
			run: () => app.chooseLabel(label, word, 'include'),
		}));
}

export function boxEntries(app: App, box: Box): Entry[] {
	const item = app.profile.items[app.scene.parts[box.part]!.tree.item[box.node]!];
	const zoom: Entry = { text: 'Zoom', key: 'Enter', run: () => app.graph.zoomTo(box) };
	if (!item)
		return [zoom];
	if (!item.label)
		return [zoom, ...functionEntries(app, item.name), ...ownerEntries(app, item.name)];
	const word = wordOf(item.name);
	return [
		zoom,
		{ text: `Only ${item.label} ${item.name}`, key: 'o', run: () => app.chooseLabel(item.label, word, 'include') },
		{ text: `Without ${item.label} ${item.name}`, key: 'x',
			run: () => app.chooseLabel(item.label, word, 'exclude') },
		{ text: 'Copy the name', key: 'c', run: () => void app.copyName(item.name) },
	];
}

export function functionRowEntries(app: App, name: string): Entry[] {
	return [...functionEntries(app, name), ...ownerEntries(app, name)];
}

export function rowEntries(app: App, row: Row): Entry[] {
	if (app.state.by === 'function')
		return functionRowEntries(app, row.name);
	return [{ text: 'Copy the name', run: () => void app.copyName(row.name) }];
}

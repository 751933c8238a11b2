// SPDX-License-Identifier: Apache-2.0
/* The keys of the page (help.ts lists them). */
import { NO_SEARCH } from '../model/search.ts';
import type { Kernel } from '../model/profile.ts';
import type { Tab } from '../model/state.ts';
import type { App } from './app.ts';
import { wordOf } from './menu_entries.ts';

const KERNELS: Kernel[] = ['all', 'only', 'hide'];
const TABS: Tab[] = ['graph', 'table', 'both', 'calls'];
const SCALE_STEP = 0.7;
const MOVE_STEP = 0.2;

function next<T>(list: T[], one: T): T {
	return list[(list.indexOf(one) + 1) % list.length]!;
}

export class Keys {
	/* By event.key; those of boxes do nothing without a selected one. */
	private readonly commands: Record<string, () => void>;
	private readonly boxCommands: Record<string, (name: string) => void>;

	constructor(private readonly app: App) {
		const { graph } = app;
		const change = app.change.bind(app);
		this.commands = {
			'/': () => app.toolbar.search.select(),
			n: () => app.stepMatch(1),
			N: () => app.stepMatch(-1),
			0: () => app.reset(),
			Home: () => app.reset(),
			'+': () => graph.scaleBy(SCALE_STEP, 0.5),
			'=': () => graph.scaleBy(SCALE_STEP, 0.5),
			'-': () => graph.scaleBy(1 / SCALE_STEP, 0.5),
			Backspace: () => history.back(),
			u: () => app.undoNarrowing(),
			b: () => change({ bottomUp: !app.state.bottomUp, pivot: '' }),
			i: () => change({ isFlipped: !app.state.isFlipped }),
			k: () => change({ kernel: next(KERNELS, app.state.kernel) }),
			l: () => change({ hasFacets: !app.state.hasFacets }),
			t: () => change({ tab: next(TABS, app.state.tab) }),
			w: () => this.changeSide(),
			v: () => change({ palette: app.state.palette === 'red-blue' ? 'orange-blue' : 'red-blue' }),
			s: () => void app.savePicture(),
			d: () => app.nextTheme(),
			'?': () => app.help.toggle(),
			Escape: () => this.leave(),
		};
		this.boxCommands = {
			Enter: () => this.app.selected && graph.zoomTo(this.app.selected),
			p: (name) => app.pivotOn(name),
			h: (name) => this.narrow('hide', name),
			x: (name) => this.narrow('drop', name),
			o: (name) => this.narrow('only', name),
			c: (name) => void app.copyName(name),
			m: () => this.openMenu(),
			ContextMenu: () => this.openMenu(),
		};
	}

	listen(signal: AbortSignal) {
		document.addEventListener('keydown', (event) => this.onKey(event), { signal });
	}

	private onKey(event: KeyboardEvent) {
		const { target } = event;
		if (!this.app.shell.isActive())
			return;
		if (event.key.toLowerCase() === 'f' && (event.ctrlKey || event.metaKey)) {
			this.app.toolbar.search.select();
			event.preventDefault();
			return;
		}
		const isElsewhere = target instanceof HTMLInputElement || target instanceof HTMLSelectElement ||
			this.app.help.element.open || this.app.menu.isOpen;
		const isControl = target instanceof HTMLButtonElement && (event.key === 'Enter' || event.key === ' ');
		if (isElsewhere || isControl || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (this.run(event))
			event.preventDefault();
	}

	private run(event: KeyboardEvent): boolean {
		const { app } = this;
		if (event.shiftKey && (event.key === 'ArrowLeft' || event.key === 'ArrowRight')) {
			app.graph.moveBy(event.key === 'ArrowLeft' ? -MOVE_STEP : MOVE_STEP);
			return true;
		}
		if (app.state.tab !== 'table' && app.state.tab !== 'calls' && app.graph.walk(event.key)) {
			app.showCard();
			return true;
		}
		const box = app.selected;
		const boxCommand = this.boxCommands[event.key];
		if (box && boxCommand) {
			boxCommand(app.nameOf(box));
			return true;
		}
		const command = this.commands[event.key];
		command?.();
		return command !== undefined;
	}

	/* Of the value of a label, the key works on the label. */
	private narrow(how: 'hide' | 'drop' | 'only', name: string) {
		const { app } = this;
		const box = app.selected!;
		const item = app.profile.items[app.scene.parts[box.part]!.tree.item[box.node]!];
		if (item?.label && how !== 'hide')
			app.chooseLabel(item.label, wordOf(name), how === 'only' ? 'include' : 'exclude');
		else if (item && !item.label)
			app.narrow(how, name);
	}

	private openMenu() {
		const { app } = this;
		const { x, y } = app.graph.placeOf(app.selected!);
		app.openMenu(app.selected!, x, y);
	}

	private changeSide() {
		const { app } = this;
		if (app.profile.comparison)
			app.change({ side: app.state.side === 'after' ? 'before' : 'after' });
	}

	/* Leaves one thing after the other. */
	private leave() {
		const { app } = this;
		const { zoom, pivot, search } = app.state;
		if (zoom.node > 0 || zoom.span)
			app.reset();
		else if (pivot)
			app.change({ pivot: '' });
		else if (search.text)
			app.change({ search: NO_SEARCH }, false);
		else if (app.selected)
			app.select(null);
		else
			app.shell.leave();
	}
}

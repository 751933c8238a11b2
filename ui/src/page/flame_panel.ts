// SPDX-License-Identifier: Apache-2.0
/* The flame graph of the selection: a viewer for each answer of the server. */
import { App } from '../app/app.ts';
import type { Shell } from '../app/app.ts';
import { el } from '../dom.ts';
import { profileOf } from '../model/profile.ts';
import type { RawProfile } from '../model/profile.ts';
import { Latest } from './api.ts';
import type { Api, Parameters } from './api.ts';
import { Overlay } from './overlay.ts';
import type { Nothing } from './overlay.ts';
import { zerosOfType } from './query.ts';

/* What keeps its place when a viewer takes the place of another one. */
const SCROLLED = ['.scroller', '.table .rows', '.calls .rows', '.facets'];

export class FlamePanel {
	readonly element: HTMLElement;
	app: App | null = null;
	private readonly root = el('div', { class: 'viewer' });
	private readonly overlay: Overlay;
	private readonly latest = new Latest();
	private shown = '';

	constructor(private readonly api: Api, private readonly shell: Shell, private readonly nothing: () => Nothing) {
		this.element = el('section', { class: 'flame', attributes: { 'aria-label': 'Flame graph' } }, this.root);
		this.overlay = new Overlay(this.element);
	}

	/** Shows the answer to a query; nothing is asked if it is there already. `isForeign`: the fragment was
	 * not changed by the page or its viewer. */
	show(query: Parameters, isForeign: boolean) {
		const key = this.api.url('flame', query);
		if (key === this.shown) {
			if (isForeign)
				this.app?.onFragment();
			return;
		}
		const keepsZoom = this.shown !== '' && !isForeign;
		const began = performance.now();
		this.shown = key;
		void this.overlay.during(async () => {
			const raw = await this.api.get<RawProfile>('flame', query, this.latest.next());
			const zoomed = keepsZoom ? this.app?.zoomedNames() ?? [] : [];
			if (keepsZoom)
				this.shell.link.dropFromView('zoom');
			this.put(raw);
			this.app!.zoomToNames(zoomed);
			this.element.dataset.tookMs = (performance.now() - began).toFixed(0);
		}, this.nothing, () => this.clear(String(query.type ?? '')));
	}

	get isWaiting(): boolean {
		return this.overlay.isWaiting;
	}

	/* The numbers of the answer before are not those of what is selected now. */
	private clear(type: string) {
		const numbers = zerosOfType(type).map(([number, text]) =>
			el('span', {}, el('b', { text: number }), ` ${text}`));
		this.app?.end();
		this.app = null;
		this.root.classList.remove('ready');
		this.root.replaceChildren(el('header', {}, el('div', { class: 'totals' }, ...numbers)));
	}

	private put(raw: RawProfile) {
		const focused = document.activeElement as HTMLElement | null;
		const wasInside = this.root.contains(focused);
		const name = focused?.dataset.name;
		const selector = name ? `[data-name="${CSS.escape(name)}"]` : `#${focused?.id || 'graph'}`;
		const tops = SCROLLED.map((one) => this.root.querySelector(one)?.scrollTop ?? 0);
		this.app?.end();
		this.app = new App(profileOf(raw), this.root, this.shell);
		SCROLLED.forEach((one, i) => {
			if (tops[i]! > 0)
				this.root.querySelector(one)!.scrollTop = tops[i]!;
		});
		if (wasInside)
			this.root.querySelector<HTMLElement>(selector)?.focus();
	}
}

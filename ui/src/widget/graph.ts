// SPDX-License-Identifier: Apache-2.0
/* The flame graph: a canvas as high as its window, over a space as high as all rows, so that the
 * browser scrolls and the canvas stays small. It knows nothing of the page around it. */
import { el, noTextDrag } from '../dom.ts';
import { boxAt, covering, largestChild, sibling, startsOf, widthsOf } from '../model/layout.ts';
import type { Profile } from '../model/profile.ts';
import type { Scene } from '../model/scene.ts';
import { NO_ZOOM } from '../model/state.ts';
import type { Zoom } from '../model/state.ts';
import { Minimap } from './minimap.ts';
import { Painter, ROW_PX, rowOf, spanOf } from './painter.ts';
import type { Look } from './painter.ts';

export interface Box {
	part: 0 | 1;
	node: number;
}

export interface GraphEvents {
	/** `isStep`: the browser's "back" is to undo it. */
	zoom(zoom: Zoom, isStep: boolean): void;
	select(box: Box | null): void;
	hover(box: Box | null, x: number, y: number): void;
	menu(box: Box, x: number, y: number): void;
	pivot(box: Box): void;
}

interface Drag {
	x: number;
	y: number;
	top: number;
	span: [number, number];
	part: 0 | 1;
	isMoved: boolean;
}

const DRAG_MIN_PX = 4;
const WHEEL_SPEED = 0.0022;
const PNG_MAX_PX = 16000;

export class Graph {
	readonly element: HTMLElement;
	readonly canvas: HTMLCanvasElement;
	private readonly minimap: Minimap;
	private readonly scroller: HTMLElement;
	private readonly space: HTMLElement;
	private readonly painter: Painter;
	private scene: Scene = { parts: [], nrRows: 0 };
	private look: Look | null = null;
	private frame = 0;
	private drag: Drag | null = null;

	constructor(profile: Profile, private readonly events: GraphEvents) {
		this.painter = new Painter(profile);
		this.canvas = el('canvas', { id: 'graph', attributes: {
			tabindex: '0', role: 'application', 'aria-label': 'Flame graph; press ? for keys',
		} });
		this.space = el('div', { class: 'space' });
		this.scroller = el('div', { class: 'scroller' }, this.canvas, this.space);
		this.minimap = new Minimap(this.painter, (from, to) => this.zoomToShares(from, to));
		this.element = el('div', { class: 'graph' }, this.minimap.canvas, this.scroller);
		this.scroller.onscroll = () => this.repaint();
		new ResizeObserver(() => this.onResize()).observe(this.scroller);
		this.listen();
	}

	show(scene: Scene, look: Look) {
		const isNew = scene !== this.scene;
		this.scene = scene;
		this.look = look;
		if (isNew)
			this.resize();
		else
			this.repaint();
	}

	get selected(): Box | null {
		const box = this.look?.selected;
		return box ? { part: box.part as 0 | 1, node: box.node } : null;
	}

	/** Scrolls as little as needed to show a box. */
	reveal(box: Box) {
		const part = this.scene.parts[box.part];
		if (!part || box.node >= part.tree.n)
			return;
		const y = rowOf(part, part.tree.depth[box.node]!) * ROW_PX;
		const { scrollTop, clientHeight } = this.scroller;
		if (y < scrollTop)
			this.scroller.scrollTop = y;
		else if (y + ROW_PX > scrollTop + clientHeight)
			this.scroller.scrollTop = y + ROW_PX - clientHeight;
	}

	/** Scrolls to the root, or to the function whose callers are above it. */
	scrollToRoot() {
		const row = this.scene.parts[0]?.row ?? 0;
		const isWhole = this.scene.parts.length < 2;
		this.scroller.scrollTop = isWhole ? row * ROW_PX : row * ROW_PX - this.scroller.clientHeight / 2;
	}

	zoomTo(box: Box) {
		this.events.zoom({ part: box.part, node: box.node, span: null }, true);
	}

	/** The place of a box in the window, for what is shown beside it. */
	placeOf(box: Box): { x: number; y: number } {
		const part = this.scene.parts[box.part]!;
		const { from, to } = spanOf(this.scene, box.part, this.look!);
		const frame = this.canvas.getBoundingClientRect();
		const scale = frame.width / (to - from);
		const x = (startsOf(part.tree, this.look!.side)[box.node]! - from) * scale;
		const row = rowOf(part, part.tree.depth[box.node]!);
		return {
			x: frame.left + Math.min(Math.max(x, 0), frame.width) + 8,
			y: frame.top + row * ROW_PX - this.scroller.scrollTop + ROW_PX,
		};
	}

	/** All rows as a picture, with a line of text above them. */
	picture(title: string): Promise<Blob | null> {
		const width = this.canvas.clientWidth;
		const height = Math.min((this.scene.nrRows + 2) * ROW_PX, PNG_MAX_PX);
		const canvas = el('canvas');
		const scale = Math.min(window.devicePixelRatio, PNG_MAX_PX / height, PNG_MAX_PX / width);
		canvas.width = width * scale;
		canvas.height = height * scale;
		const context = canvas.getContext('2d')!;
		context.setTransform(scale, 0, 0, scale, 0, 2 * ROW_PX * scale);
		this.painter.paint(context, this.scene, this.look!, width, height - 2 * ROW_PX, 0);
		context.globalCompositeOperation = 'destination-over';
		context.fillStyle = this.look!.isDark ? '#14171c' : '#ffffff';
		context.fillRect(0, -2 * ROW_PX, width, height);
		context.globalCompositeOperation = 'source-over';
		context.fillStyle = this.look!.isDark ? '#e6e8ec' : '#16181d';
		context.fillText(title, 6, -ROW_PX);
		return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
	}

	/** Moves the selection from box to box. Returns whether the key means something here. */
	walk(key: string): boolean {
		const from = this.selected ?? { part: 0, node: this.look?.zoom.part === 0 ? this.look.zoom.node : 0 };
		const part = this.scene.parts[from.part];
		if (!part || !this.look)
			return false;
		const { tree } = part;
		const side = this.look.side;
		const isToLeaf = (key === 'ArrowDown') === (part.step > 0);
		let to = -1;
		let at = from.part;
		if (key === 'ArrowLeft' || key === 'ArrowRight')
			to = sibling(tree, side, from.node, key === 'ArrowRight' ? 1 : -1);
		else if (key !== 'ArrowUp' && key !== 'ArrowDown')
			return false;
		else if (!this.selected)
			to = from.node;
		else if (isToLeaf)
			to = largestChild(tree, side, from.node);
		else if (from.node > 0)
			to = tree.parent[from.node]!;
		else if (this.scene.parts.length > 1) {
			at = from.part ? 0 : 1;
			to = largestChild(this.scene.parts[at]!.tree, side, 0);
		}
		if (to >= 0) {
			this.events.select({ part: at, node: to });
			this.reveal({ part: at, node: to });
		}
		return true;
	}

	/** Makes what is seen wider or narrower around a place, as a share of the width. */
	scaleBy(factor: number, at: number, part: 0 | 1 = 0) {
		const [from, to] = this.shares(part);
		const width = Math.min((to - from) * factor, 1);
		const middle = from + (to - from) * at;
		this.zoomToSpan(part, middle - width * at, middle + width * (1 - at));
	}

	moveBy(share: number, part: 0 | 1 = 0) {
		const [from, to] = this.shares(part);
		this.zoomToSpan(part, from + (to - from) * share, to + (to - from) * share);
	}

	private shares(part: 0 | 1): [number, number] {
		const all = widthsOf(this.scene.parts[part]!.tree, this.look!.side)[0]!;
		const { from, to } = spanOf(this.scene, part, this.look!);
		return all > 0 ? [from / all, to / all] : [0, 1];
	}

	private zoomToSpan(part: 0 | 1, from: number, to: number) {
		const width = Math.min(to - from, 1);
		if (width <= 1e-9)
			return;
		const start = Math.min(Math.max(from, 0), 1 - width);
		const { tree } = this.scene.parts[part]!;
		const all = widthsOf(tree, this.look!.side)[0]!;
		if (width >= 1)
			this.events.zoom(NO_ZOOM, false);
		else
			this.events.zoom({
				part,
				node: covering(tree, this.look!.side, start * all, (start + width) * all),
				span: [start, start + width],
			}, false);
	}

	private zoomToShares(from: number, to: number) {
		if (to - from >= 1)
			this.events.zoom(NO_ZOOM, true);
		else
			this.zoomToSpan(0, from, to);
	}

	/* The observer reports the first size as well, which has been painted by then. */
	private onResize() {
		const ratio = window.devicePixelRatio;
		const { clientWidth, clientHeight } = this.scroller;
		const { width, height } = this.canvas;
		if (Math.round(clientWidth * ratio) !== width || Math.round(clientHeight * ratio) !== height)
			this.resize();
	}

	/** Paints at once, as a canvas that gets a size is blank. */
	private resize() {
		const { clientWidth, clientHeight } = this.scroller;
		const ratio = window.devicePixelRatio;
		this.canvas.width = Math.round(clientWidth * ratio);
		this.canvas.height = Math.round(clientHeight * ratio);
		this.canvas.style.width = `${clientWidth}px`;
		this.canvas.style.height = `${clientHeight}px`;
		this.space.style.height = `${Math.max(this.scene.nrRows * ROW_PX - clientHeight, 0)}px`;
		this.paint();
	}

	/** Paints before the next frame. */
	repaint() {
		this.frame ||= requestAnimationFrame(() => this.paint());
	}

	private paint() {
		cancelAnimationFrame(this.frame);
		this.frame = 0;
		if (!this.look || !this.canvas.width)
			return;
		const ratio = window.devicePixelRatio;
		const context = this.canvas.getContext('2d')!;
		const { clientWidth, clientHeight, scrollTop } = this.scroller;
		const began = performance.now();
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.painter.paint(context, this.scene, this.look, clientWidth, clientHeight, scrollTop);
		this.canvas.dataset.paintMs = (performance.now() - began).toFixed(1);
		this.minimap.paint(this.scene, this.look, this.shares(0),
			[scrollTop / ROW_PX, (scrollTop + clientHeight) / ROW_PX]);
	}

	private boxUnder(event: MouseEvent): Box | null {
		if (!this.look)
			return null;
		const frame = this.canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - frame.top + this.scroller.scrollTop) / ROW_PX);
		for (const [index, part] of this.scene.parts.entries()) {
			const depth = (row - part.row) * part.step;
			if (depth < (index > 0 ? 1 : 0))
				continue;
			const { from, to } = spanOf(this.scene, index, this.look);
			const place = from + ((event.clientX - frame.left) / frame.width) * (to - from);
			const node = boxAt(part.tree, this.look.side, depth, place);
			if (node >= 0)
				return { part: index as 0 | 1, node };
		}
		return null;
	}

	private listen() {
		const { canvas } = this;
		canvas.onpointermove = (event) => this.onMove(event);
		canvas.onpointerleave = () => this.events.hover(null, 0, 0);
		canvas.onpointerdown = (event) => {
			if (event.button !== 0)
				return;
			const part = this.boxUnder(event)?.part ?? 0;
			this.drag = {
				x: event.clientX, y: event.clientY, top: this.scroller.scrollTop,
				span: this.shares(part), part, isMoved: false,
			};
			canvas.setPointerCapture(event.pointerId);
		};
		noTextDrag(canvas);
		canvas.onpointerup = (event) => this.onUp(event);
		canvas.onpointercancel = () => (this.drag = null);
		canvas.oncontextmenu = (event) => {
			const box = this.boxUnder(event);
			event.preventDefault();
			if (!box)
				return;
			this.events.select(box);
			this.events.menu(box, event.clientX, event.clientY);
		};
		this.scroller.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
	}

	private onMove(event: PointerEvent) {
		const { drag } = this;
		if (!drag) {
			this.events.hover(this.boxUnder(event), event.clientX, event.clientY);
			return;
		}
		const dx = event.clientX - drag.x;
		const dy = event.clientY - drag.y;
		drag.isMoved ||= Math.abs(dx) + Math.abs(dy) > DRAG_MIN_PX;
		if (!drag.isMoved)
			return;
		this.canvas.classList.add('dragged');
		this.events.hover(null, 0, 0);
		this.scroller.scrollTop = drag.top - dy;
		const [from, to] = drag.span;
		const share = (-dx / this.canvas.clientWidth) * (to - from);
		if (to - from < 1)
			this.zoomToSpan(drag.part, from + share, to + share);
	}

	private onUp(event: PointerEvent) {
		const isClick = this.drag && !this.drag.isMoved;
		this.drag = null;
		this.canvas.classList.remove('dragged');
		const box = isClick ? this.boxUnder(event) : null;
		if (!box)
			return;
		this.events.select(box);
		if (event.shiftKey || event.altKey)
			this.events.pivot(box);
		else
			this.zoomTo(box);
	}

	private onWheel(event: WheelEvent) {
		if (!this.look)
			return;
		const part = this.boxUnder(event)?.part ?? 0;
		if (event.ctrlKey || event.metaKey) {
			const frame = this.canvas.getBoundingClientRect();
			event.preventDefault();
			this.scaleBy(Math.exp(event.deltaY * WHEEL_SPEED), (event.clientX - frame.left) / frame.width, part);
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			this.moveBy((event.deltaX || event.deltaY) / this.canvas.clientWidth, part);
		}
	}
}

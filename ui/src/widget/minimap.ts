// SPDX-License-Identifier: Apache-2.0
/* The whole graph, small, with a frame around what is seen. A drag over it zooms. */
import { el, noTextDrag } from '../dom.ts';
import { visit, widthsOf } from '../model/layout.ts';
import type { Scene } from '../model/scene.ts';
import type { Look, Painter } from './painter.ts';
import { PixelRows } from './pixel_rows.ts';

export const MINIMAP_PX = 44;
const ROWS_MAX = 66; // deeper ones are not shown

function rowPxOf(scene: Scene): number {
	return MINIMAP_PX / Math.min(Math.max(scene.nrRows, 1), ROWS_MAX);
}

export class Minimap {
	readonly canvas: HTMLCanvasElement;
	private readonly rows = new PixelRows();
	private drawn: { scene: Scene; key: string; picture: HTMLCanvasElement } | null = null;
	private start = 0;

	constructor(private readonly painter: Painter, private readonly zoom: (from: number, to: number) => void) {
		this.canvas = el('canvas', { class: 'minimap', title: 'Drag over it to zoom, double-click to show all' });
		const share = (event: PointerEvent) => {
			const frame = this.canvas.getBoundingClientRect();
			return Math.min(Math.max((event.clientX - frame.left) / frame.width, 0), 1);
		};
		this.canvas.onpointerdown = (event) => {
			this.start = share(event);
			this.canvas.setPointerCapture(event.pointerId);
		};
		this.canvas.onpointermove = (event) => {
			const end = share(event);
			if (event.buttons && Math.abs(end - this.start) > 0.003)
				this.zoom(Math.min(this.start, end), Math.max(this.start, end));
		};
		noTextDrag(this.canvas);
		this.canvas.ondblclick = () => this.zoom(0, 1);
	}

	paint(scene: Scene, look: Look, shares: [number, number], rows: [number, number]) {
		const width = this.canvas.clientWidth;
		const ratio = window.devicePixelRatio;
		if (!width)
			return;
		this.canvas.width = width * ratio;
		this.canvas.height = MINIMAP_PX * ratio;
		const context = this.canvas.getContext('2d')!;
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		const rowPx = rowPxOf(scene);
		context.imageSmoothingEnabled = rowPx < 1;
		context.drawImage(this.pictureOf(scene, look, width), 0, 0, width, Math.min(scene.nrRows, ROWS_MAX) * rowPx);
		const left = shares[0] * width;
		const right = Math.max(shares[1] * width, left + 2);
		context.fillStyle = look.isDark ? 'rgba(0, 0, 0, 0.6)' : 'rgba(255, 255, 255, 0.65)';
		context.fillRect(0, 0, left, MINIMAP_PX);
		context.fillRect(right, 0, width - right, MINIMAP_PX);
		context.strokeStyle = look.isDark ? '#aab2c0' : '#3b4252';
		const top = rows[0] * rowPx;
		context.strokeRect(left + 0.5, top + 0.5, right - left - 1, Math.min(rows[1] * rowPx, MINIMAP_PX) - top - 1);
	}

	private pictureOf(scene: Scene, look: Look, width: number): HTMLCanvasElement {
		const key = `${width} ${look.side} ${look.palette} ${String(look.isDark)}`;
		if (this.drawn?.scene === scene && this.drawn.key === key)
			return this.drawn.picture;
		const nrRows = Math.min(Math.max(scene.nrRows, 1), ROWS_MAX);
		this.rows.clear(width, nrRows);
		for (const part of scene.parts) {
			const to = widthsOf(part.tree, look.side)[0]!;
			const put = (node: number, x: number, w: number) => {
				const row = part.row + part.step * part.tree.depth[node]!;
				if (row < nrRows)
					this.rows.fill(row, x, x + w, this.painter.color(part, node, look));
			};
			if (to > 0)
				visit(part.tree, look.side, { from: 0, to, px: width }, 0, ROWS_MAX, { box: put, crumbs: put });
		}
		const { picture } = this.rows;
		this.drawn = { scene, key, picture };
		return picture;
	}
}

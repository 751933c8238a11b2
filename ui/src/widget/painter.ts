// SPDX-License-Identifier: Apache-2.0
/* Draws a scene on a canvas. Only boxes that are to be seen are visited. */
import { changeColor, itemColor } from '../model/colors.ts';
import type { Palette } from '../model/colors.ts';
import { changeOf } from '../model/diff.ts';
import { fitted } from '../model/format.ts';
import { startsOf, visit, widthsOf } from '../model/layout.ts';
import type { Side } from '../model/layout.ts';
import type { Profile } from '../model/profile.ts';
import type { Part, Scene } from '../model/scene.ts';
import type { Zoom } from '../model/state.ts';
import { Batch } from './batch.ts';

export const ROW_PX = 20;
const FONT_PX = 12;
const FONT = `${FONT_PX}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
const PAD_PX = 4;
const TEXT_MIN_PX = 24;
const GAP_MIN_PX = 3; // narrower boxes have no gap beside them

export interface Look {
	side: Side;
	palette: Palette;
	isDark: boolean;
	zoom: Zoom;
	/** Of each item: whether it matches the search; null: there is none. */
	isMatch: Uint8Array | null;
	selected: { part: number; node: number } | null;
}

/** The part of a tree that fills the width. */
export function spanOf(scene: Scene, part: number, look: { side: Side; zoom: Zoom }): { from: number; to: number } {
	const tree = scene.parts[part]!.tree;
	const all = widthsOf(tree, look.side)[0]!;
	const { zoom } = look;
	if (zoom.part !== part)
		return { from: 0, to: all };
	if (zoom.span)
		return { from: zoom.span[0] * all, to: zoom.span[1] * all };
	const node = zoom.node < tree.n ? zoom.node : 0;
	const from = startsOf(tree, look.side)[node]!;
	const width = widthsOf(tree, look.side)[node]!;
	return width > 0 ? { from, to: from + width } : { from: 0, to: all };
}

export function rowOf(part: Part, depth: number): number {
	return part.row + part.step * depth;
}

export class Painter {
	private readonly colors = new Map<number, string>();
	private colorKey = '';
	private charPx = 0;

	constructor(private readonly profile: Profile) {}

	/** Draws the rows from `top` (in pixels) on that fit into `height`. */
	paint(context: CanvasRenderingContext2D, scene: Scene, look: Look, width: number, height: number, top: number) {
		context.font = FONT;
		context.textBaseline = 'middle';
		this.charPx ||= context.measureText('M'.repeat(100)).width / 100;
		context.clearRect(0, 0, width, height);
		this.forgetColors(look);
		scene.parts.forEach((part, index) => {
			this.paintPart(context, scene, part, index, look, width, height, top);
		});
	}

	private forgetColors(look: Look) {
		const key = `${look.palette} ${String(look.isDark)}`;
		if (key !== this.colorKey)
			this.colors.clear();
		this.colorKey = key;
	}

	private paintPart(
		context: CanvasRenderingContext2D, scene: Scene, part: Part, index: number, look: Look,
		width: number, height: number, top: number,
	) {
		const { tree } = part;
		const rows = [Math.floor(top / ROW_PX), Math.floor((top + height - 1) / ROW_PX)]
			.map((row) => (row - part.row) * part.step)
			.sort((a, b) => a - b) as [number, number];
		const first = Math.max(rows[0], index > 0 ? 1 : 0);
		const span = { ...spanOf(scene, index, look), px: width };
		if (span.to <= span.from)
			return;
		const focus = look.zoom.part === index && !look.zoom.span ? look.zoom.node : 0;
		const y = (node: number) => rowOf(part, tree.depth[node]!) * ROW_PX - top;
		const batch = new Batch(ROW_PX - 1);
		visit(tree, look.side, span, first, rows[1], {
			box: (node, x, w) => {
				const isAbove = focus > 0 && node < focus && tree.end[node]! > focus;
				this.paintBox(batch, part, node, { x, y: y(node), w, width, isAbove }, look);
			},
			crumbs: (node, x, w) => {
				batch.box(look.isMatch ? 0.25 : 0.6, this.color(part, node, look), x, y(node), Math.max(w, 1));
			},
		});
		batch.draw(context);
		if (look.selected?.part === index)
			this.paintSelection(context, part, look, span, top);
	}

	private paintBox(
		batch: Batch, part: Part, node: number,
		place: { x: number; y: number; w: number; width: number; isAbove: boolean }, look: Look,
	) {
		const { tree } = part;
		const item = tree.item[node]!;
		const left = Math.max(place.x, 0);
		const right = Math.min(place.x + place.w, place.width);
		const gap = right - left >= GAP_MIN_PX ? 1 : 0;
		const isMatch = look.isMatch && item >= 0 ? look.isMatch[item] === 1 : false;
		const isDim = look.isMatch !== null && !isMatch;
		const color = isMatch ? (look.isDark ? '#d257d9' : '#e36bea') : this.color(part, node, look);
		batch.box((place.isAbove ? 0.55 : 1) * (isDim ? 0.35 : 1), color, left, place.y, right - left - gap);
		if (right - left < TEXT_MIN_PX)
			return;
		const { name, kind } = item < 0 ? { name: 'all', kind: '' } : this.profile.items[item]!;
		const text = fitted(name, kind, Math.floor((right - left - 2 * PAD_PX) / this.charPx));
		if (text)
			batch.text(isDim ? 0.7 : 1, look.isDark && isDim ? '#c3c9d3' : '#16181d', text, left + PAD_PX,
				place.y + ROW_PX / 2);
	}

	color(part: Part, node: number, look: Look): string {
		const { tree } = part;
		if (this.profile.comparison) {
			const change = changeOf(this.profile, tree.before[node]!, tree.total[node]!);
			return changeColor(change, look.palette, look.isDark);
		}
		const item = tree.item[node]!;
		let color = this.colors.get(item);
		if (color === undefined) {
			color = itemColor(this.profile.items[item], look.isDark);
			this.colors.set(item, color);
		}
		return color;
	}

	private paintSelection(
		context: CanvasRenderingContext2D, part: Part, look: Look, span: { from: number; to: number; px: number },
		top: number,
	) {
		const { tree } = part;
		const node = look.selected!.node;
		if (node >= tree.n)
			return;
		const scale = span.px / (span.to - span.from);
		const x = (startsOf(tree, look.side)[node]! - span.from) * scale;
		const w = widthsOf(tree, look.side)[node]! * scale;
		const left = Math.max(x, 0);
		const right = Math.min(x + w, span.px);
		if (right < 0 || left > span.px)
			return;
		context.strokeStyle = look.isDark ? '#ffffff' : '#0b0d12';
		context.lineWidth = 2;
		context.strokeRect(left + 1, rowOf(part, tree.depth[node]!) * ROW_PX - top + 1,
			Math.max(right - left - 2, 2), ROW_PX - 3);
	}
}

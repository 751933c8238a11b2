// SPDX-License-Identifier: Apache-2.0
/* Draws a scene on a canvas: boxes as pixels, and texts over them. Only boxes that are to be seen are
 * visited. */
import { changeColor, itemColor } from '../model/colors.ts';
import type { Color, Palette } from '../model/colors.ts';
import { changeOf } from '../model/diff.ts';
import { fitted } from '../model/format.ts';
import { startsOf, visit, widthsOf } from '../model/layout.ts';
import type { Side } from '../model/layout.ts';
import type { Profile } from '../model/profile.ts';
import type { Part, Scene } from '../model/scene.ts';
import type { Zoom } from '../model/state.ts';
import { PixelRows } from './pixel_rows.ts';

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

interface Text {
	text: string;
	x: number;
	y: number;
}

/* What is drawn of a scene: the rows from `first` on, the first of which begins at `y`. */
interface Frame {
	look: Look;
	width: number;
	/** Pixels of the canvas for each pixel of the page. */
	scale: number;
	first: number;
	nr: number;
	y: number;
	texts: Text[];
	dimTexts: Text[];
}

export class Painter {
	private readonly colors = new Map<number, Color>();
	private readonly rows = new PixelRows();
	private colorKey = '';
	private charPx = 0;

	constructor(private readonly profile: Profile) {}

	/** Draws the rows from `top` (in pixels) on that fit into `height`. */
	paint(context: CanvasRenderingContext2D, scene: Scene, look: Look, width: number, height: number, top: number) {
		const first = Math.floor(top / ROW_PX);
		const frame: Frame = {
			look, width, scale: context.getTransform().a, first,
			nr: Math.max(Math.ceil((top + height) / ROW_PX) - first, 1), y: first * ROW_PX - top,
			texts: [], dimTexts: [],
		};
		context.font = FONT;
		context.textBaseline = 'middle';
		this.charPx ||= context.measureText('M'.repeat(100)).width / 100;
		context.clearRect(0, 0, width, height);
		this.forgetColors(look);
		this.rows.clear(Math.max(Math.round(width * frame.scale), 1), frame.nr);
		scene.parts.forEach((part, index) => this.putPart(frame, scene, part, index));
		this.drawRows(context, frame);
		this.drawTexts(context, frame);
		this.drawSelection(context, frame, scene);
	}

	private forgetColors(look: Look) {
		const key = `${look.palette} ${String(look.isDark)}`;
		if (key !== this.colorKey)
			this.colors.clear();
		this.colorKey = key;
	}

	private drawRows(context: CanvasRenderingContext2D, { width, nr, y }: Frame) {
		context.imageSmoothingEnabled = false;
		context.drawImage(this.rows.picture, 0, y, width, nr * ROW_PX);
		for (let row = 1; row <= nr; row++)
			context.clearRect(0, y + row * ROW_PX - 1, width, 1);
	}

	private drawTexts(context: CanvasRenderingContext2D, { look, texts, dimTexts }: Frame) {
		context.fillStyle = '#16181d';
		for (const { text, x, y } of texts)
			context.fillText(text, x, y);
		context.globalAlpha = 0.7;
		context.fillStyle = look.isDark ? '#c3c9d3' : '#16181d';
		for (const { text, x, y } of dimTexts)
			context.fillText(text, x, y);
		context.globalAlpha = 1;
	}

	private putPart(frame: Frame, scene: Scene, part: Part, index: number) {
		const { look, scale, width } = frame;
		const { tree } = part;
		const [from, to] = [frame.first, frame.first + frame.nr - 1]
			.map((row) => (row - part.row) * part.step)
			.sort((a, b) => a - b) as [number, number];
		const span = { ...spanOf(scene, index, look), px: width };
		if (span.to <= span.from)
			return;
		const row = (node: number) => rowOf(part, tree.depth[node]!) - frame.first;
		const focus = look.zoom.part === index && !look.zoom.span ? look.zoom.node : 0;
		visit(tree, look.side, span, Math.max(from, index > 0 ? 1 : 0), to, {
			box: (node, x, w) => {
				const isAbove = focus > 0 && node < focus && tree.end[node]! > focus;
				this.putBox(frame, part, node, row(node), Math.max(x, 0), Math.min(x + w, width), isAbove);
			},
			crumbs: (node, x, w) => {
				this.rows.fill(row(node), x * scale, (x + Math.max(w, 1)) * scale, this.color(part, node, look),
					look.isMatch ? 0.25 : 0.6);
			},
		});
	}

	private putBox(frame: Frame, part: Part, node: number, row: number, left: number, right: number, isAbove: boolean) {
		const { look, scale } = frame;
		const item = part.tree.item[node]!;
		const gap = right - left >= GAP_MIN_PX ? 1 : 0;
		const isMatch = look.isMatch && item >= 0 ? look.isMatch[item] === 1 : false;
		const isDim = look.isMatch !== null && !isMatch;
		const color = isMatch ? (look.isDark ? 0xd257d9 : 0xe36bea) : this.color(part, node, look);
		this.rows.fill(row, left * scale, (right - gap) * scale, color, (isAbove ? 0.55 : 1) * (isDim ? 0.35 : 1));
		if (right - left < TEXT_MIN_PX)
			return;
		const { name, kind } = item < 0 ? { name: 'all', kind: '' } : this.profile.items[item]!;
		const text = fitted(name, kind, Math.floor((right - left - 2 * PAD_PX) / this.charPx));
		if (text)
			(isDim ? frame.dimTexts : frame.texts).push({ text, x: left + PAD_PX, y: frame.y + (row + 0.5) * ROW_PX });
	}

	color(part: Part, node: number, look: Look): Color {
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

	private drawSelection(context: CanvasRenderingContext2D, frame: Frame, scene: Scene) {
		const { look, width } = frame;
		const part = scene.parts[look.selected?.part ?? -1];
		if (!part || look.selected!.node >= part.tree.n)
			return;
		const { part: index, node } = look.selected!;
		const { tree } = part;
		const { from, to } = spanOf(scene, index, look);
		const scale = to > from ? width / (to - from) : 0;
		const x = (startsOf(tree, look.side)[node]! - from) * scale;
		const w = widthsOf(tree, look.side)[node]! * scale;
		const left = Math.max(x, 0);
		const right = Math.min(x + w, width);
		if (right < 0 || left > width)
			return;
		context.strokeStyle = look.isDark ? '#ffffff' : '#0b0d12';
		context.lineWidth = 2;
		context.strokeRect(left + 1, (rowOf(part, tree.depth[node]!) - frame.first) * ROW_PX + frame.y + 1,
			Math.max(right - left - 2, 2), ROW_PX - 3);
	}
}

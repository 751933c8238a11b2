// SPDX-License-Identifier: Apache-2.0
/* The call graph: the largest functions, and which calls which. */
import { el, svg } from '../dom.ts';
import { callGraphOf } from '../model/call_graph.ts';
import type { CallGraph } from '../model/call_graph.ts';
import { changeColor, css, itemColor } from '../model/colors.ts';
import { changeOf } from '../model/diff.ts';
import { count, counted, fitted, percent } from '../model/format.ts';
import { layout } from '../model/layers.ts';
import type { Point } from '../model/layers.ts';
import type { Profile } from '../model/profile.ts';
import type { State } from '../model/state.ts';
import type { Row } from '../model/table.ts';
import type { Tree } from '../model/tree.ts';

const CHAR_PX = 6.7;
const PAD_PX = 10;
const CHARS_MIN = 17;
const CHARS_MAX = 30;
const NODE_PX = 36;
const LAYER_PX = 66;
const MARGIN_PX = 16;
const EDGE_PX = 9; // of a link with all samples
const SCALE_STEP = 1.2;
const SCALE_MIN = 0.4;

export interface CallsEvents {
	choose(row: Row): void;
	open(row: Row): void;
	menu(row: Row, x: number, y: number): void;
}

function curve(points: Point[]): string {
	const at = ({ x, y }: Point) => `${x.toFixed(1)} ${y.toFixed(1)}`;
	return points.map((point, i) => {
		const last = points[i - 1];
		if (!last)
			return `M${at(point)}`;
		const middle = (last.y + point.y) / 2;
		return `C${at({ x: last.x, y: middle })} ${at({ x: point.x, y: middle })} ${at(point)}`;
	}).join('');
}

/* A link begins and ends at the edges of boxes. */
function trimmed(points: Point[]): Point[] {
	const isDown = points.at(-1)!.y >= points[0]!.y;
	const half = (isDown ? 1 : -1) * (NODE_PX / 2);
	return points.map((point, i) => {
		const shift = i === 0 ? half : i === points.length - 1 ? -half - (isDown ? 5 : -5) : 0;
		return { x: point.x + MARGIN_PX, y: point.y + shift };
	});
}

export class CallsPanel {
	readonly element: HTMLElement;
	private readonly scroller = el('div', { class: 'rows' });
	private readonly note = el('span', { class: 'number' });
	private scale = 0; // 0: as wide as the window

	constructor(private readonly profile: Profile, private readonly events: CallsEvents) {
		this.element = el('section', { class: 'calls', attributes: { 'aria-label': 'Call graph' } },
			el('div', { class: 'bar' }, this.note), this.scroller);
		this.scroller.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
	}

	show(tree: Tree, state: State, isDark: boolean, isMatch: Uint8Array | null) {
		const graph = callGraphOf(tree);
		const hidden = graph.nrHidden > 0 ? `; ${count(graph.nrHidden)} smaller ones are left out` : '';
		this.note.textContent = `${counted(graph.nodes.length, 'function')}${hidden}. Each shows its share with all ` +
			'that it calls, and its own. Dashed: by way of functions that are left out.';
		this.scroller.replaceChildren(this.picture(graph, state, isDark, isMatch));
	}

	private picture(graph: CallGraph, state: State, isDark: boolean, isMatch: Uint8Array | null): SVGElement {
		const texts = graph.nodes.map(({ item }) => {
			const { name, kind } = this.profile.items[item]!;
			return fitted(name, kind, CHARS_MAX);
		});
		const widths = texts.map((text) => Math.max(text.length, CHARS_MIN) * CHAR_PX + 2 * PAD_PX);
		const links = graph.edges.map(({ from, to, total }) => ({ from, to, weight: total }));
		const places = layout(widths, links, LAYER_PX);
		const all = this.profile.total + this.profile.totalBefore;
		const width = places.width + 2 * MARGIN_PX;
		const picture = svg('svg', { viewBox: `0 0 ${width} ${places.height}`, role: 'group', 'aria-label': 'Calls' },
			svg('defs', {}, svg('marker', { id: 'arrow', viewBox: '0 0 8 8', refX: '1', refY: '4', markerWidth: '8',
				markerHeight: '8', markerUnits: 'userSpaceOnUse', orient: 'auto' },
			svg('path', { d: 'M0 0L8 4L0 8Z', class: 'arrow' }))));
		graph.edges.forEach((edge, i) => {
			const share = all > 0 ? edge.total / all : 0;
			picture.append(svg('path', {
				d: curve(trimmed(places.links[i]!)), class: edge.isIndirect ? 'link indirect' : 'link',
				'stroke-width': String(Math.max(share * EDGE_PX, 0.8)), 'marker-end': 'url(#arrow)',
			}, svg('title', {}, `${this.nameOf(graph, edge.from)} \u2192 ${this.nameOf(graph, edge.to)}: ` +
				percent(edge.total, all))));
		});
		graph.nodes.forEach((_, i) => picture.append(this.node(graph, i, texts[i]!, widths[i]!,
			{ x: places.nodes[i]!.x + MARGIN_PX, y: places.nodes[i]!.y }, state, isDark, isMatch)));
		this.resize(picture, width);
		return picture;
	}

	private nameOf(graph: CallGraph, node: number): string {
		return this.profile.items[graph.nodes[node]!.item]!.name;
	}

	private node(graph: CallGraph, at: number, text: string, width: number, { x, y }: Point, state: State,
		isDark: boolean, isMatch: Uint8Array | null): SVGElement {
		const { profile } = this;
		const { item, self, total, before } = graph.nodes[at]!;
		const { name, kind } = profile.items[item]!;
		const fill = profile.comparison
			? changeColor(changeOf(profile, before, total), state.palette, isDark)
			: itemColor(profile.items[item], isDark);
		const shares = profile.comparison
			? `${percent(before, profile.totalBefore)} \u2192 ${percent(total, profile.total)}`
			: `${percent(total, profile.total)}, own ${percent(self, profile.total)}`;
		const row: Row = { name, kind, place: '', self, total, selfBefore: 0, totalBefore: before };
		const line = (content: string, dy: number, bold: string) =>
			svg('text', { x: x.toFixed(1), y: (y + dy).toFixed(1), class: bold }, content);
		const classes = `node${isMatch ? (isMatch[item] ? ' match' : ' other') : ''}`;
		const node = svg('g', { class: classes, tabindex: '0', role: 'button', 'aria-label': `${name}, ${shares}` },
			svg('title', {}, `${name}\n${shares}`),
			svg('rect', { x: (x - width / 2).toFixed(1), y: String(y - NODE_PX / 2), width: String(width),
				height: String(NODE_PX), rx: '4', fill: css(fill) }),
			line(text, -4, 'name'), line(shares, 11, 'share'));
		node.addEventListener('click', () => this.events.choose(row));
		node.addEventListener('dblclick', () => this.events.open(row));
		node.addEventListener('contextmenu', (event) => {
			event.preventDefault();
			this.events.menu(row, event.clientX, event.clientY);
		});
		node.addEventListener('keydown', (event) => this.onKey(event, row, node));
		return node;
	}

	private onKey(event: KeyboardEvent, row: Row, node: SVGElement) {
		const { left, bottom } = node.getBoundingClientRect();
		if (event.key === 'Enter')
			this.events.open(row);
		else if (event.key === ' ')
			this.events.choose(row);
		else if (event.key === 'm' || event.key === 'ContextMenu')
			this.events.menu(row, left, bottom);
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	}

	private resize(picture: SVGElement, width: number) {
		picture.setAttribute('width', this.scale ? String(width * this.scale) : '100%');
		picture.classList.toggle('fits', this.scale === 0);
		if (!this.scale)
			picture.style.maxWidth = `${width}px`;
	}

	/* Ctrl-wheel makes the picture larger around the pointer. */
	private onWheel(event: WheelEvent) {
		const picture = this.scroller.querySelector('svg');
		if (!picture || !(event.ctrlKey || event.metaKey))
			return;
		event.preventDefault();
		const width = picture.viewBox.baseVal.width;
		const frame = picture.getBoundingClientRect();
		const old = frame.width / width;
		this.scale = Math.min(Math.max(event.deltaY < 0 ? old * SCALE_STEP : old / SCALE_STEP, SCALE_MIN), 3);
		const factor = this.scale / old;
		picture.style.maxWidth = 'none';
		this.resize(picture, width);
		this.scroller.scrollLeft += (event.clientX - frame.left) * (factor - 1);
		this.scroller.scrollTop += (event.clientY - frame.top) * (factor - 1);
	}
}

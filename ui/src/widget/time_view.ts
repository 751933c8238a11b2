// SPDX-License-Identifier: Apache-2.0
/* Where times and values are on the canvas of a timeline. */
import type { Range } from '../model/record/range.ts';

export const GUTTER_PX = 44;
export const RIGHT_PX = 10;
export const MARKS_PX = 18;
export const CHART_PX = 126;
export const AXIS_PX = 20;
export const TRACK_PX = 20;

export class TimeView {
	constructor(readonly window: Range, readonly width: number) {}

	get px(): number {
		return Math.max(this.width - GUTTER_PX - RIGHT_PX, 1);
	}

	xOf(time: number): number {
		const { from, to } = this.window;
		return GUTTER_PX + ((time - from) / (to - from)) * this.px;
	}

	timeOf(x: number): number {
		const { from, to } = this.window;
		return from + this.shareOf(x) * (to - from);
	}

	/** From 0 to 1. */
	shareOf(x: number): number {
		return Math.min(Math.max((x - GUTTER_PX) / this.px, 0), 1);
	}
}

export interface Colors {
	text: string;
	dim: string;
	line: string;
	accent: string;
	panel: string;
	base: string;
	mark: string;
	isDark: boolean;
}

/** The colours of the style sheet. */
export function colorsOf(): Colors {
	const style = getComputedStyle(document.documentElement);
	const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
	return {
		text: color('text'), dim: color('dim'), line: color('line'), accent: color('accent'), panel: color('panel'),
		base: color('base'), mark: color('mark'), isDark: document.documentElement.dataset.theme === 'dark',
	};
}

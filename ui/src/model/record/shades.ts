// SPDX-License-Identifier: Apache-2.0
/* The colours of timelines and heat maps. */

type Rgb = [number, number, number];

const VITALS: Record<string, string> = {
	user: '#f3ad55', system: '#6f9df0', irq: '#e2574c', softirq: '#a678d8', steal: '#9aa3af',
};
const SERIES = ['#4c8bf5', '#f0964a', '#4fb593', '#b07cd8', '#e2687f', '#bfae3a', '#45b3c7', '#a0826d'];
const REST = '#a9b1bd';

const HEAT_LIGHT: Rgb[] = [
	[0xf1, 0xf3, 0xf6], [0xfd, 0xe9, 0xb5], [0xfb, 0xb6, 0x5a], [0xee, 0x6a, 0x3b],
	[0xb3, 0x26, 0x3a], [0x5c, 0x10, 0x37],
];
const HEAT_DARK: Rgb[] = [
	[0x24, 0x29, 0x31], [0x43, 0x2c, 0x46], [0x80, 0x30, 0x52], [0xcb, 0x4b, 0x45],
	[0xf1, 0x93, 0x40], [0xfd, 0xea, 0xa8],
];

export function seriesColor(name: string, at: number, isRest: boolean): string {
	return isRest ? REST : VITALS[name] ?? SERIES[at % SERIES.length]!;
}

/** The colour of a share from 0 to 1. */
export function heatColor(share: number, isDark: boolean): Rgb {
	const stops = isDark ? HEAT_DARK : HEAT_LIGHT;
	const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
	const at = Math.min(Math.floor(place), stops.length - 2);
	return stops[at]!.map((part, i) => Math.round(part + (stops[at + 1]![i]! - part) * (place - at))) as Rgb;
}

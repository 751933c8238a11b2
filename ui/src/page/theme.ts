// SPDX-License-Identifier: Apache-2.0
/* Light or dark, while there is no viewer that knows. */
import type { Link } from '../app/link.ts';

const THEMES = ['auto', 'light', 'dark'];

function themeOf(link: Link): string {
	const theme = new URLSearchParams(link.fragment).get('theme') ?? 'auto';
	return THEMES.includes(theme) ? theme : 'auto';
}

export function showTheme(link: Link) {
	const theme = themeOf(link);
	const isDark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
	document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

export function nextTheme(link: Link) {
	const view = new URLSearchParams(link.viewFragment);
	view.set('theme', THEMES[(THEMES.indexOf(themeOf(link)) + 1) % THEMES.length]!);
	link.writeView(view.toString(), false);
	showTheme(link);
}

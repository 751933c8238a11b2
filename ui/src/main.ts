// SPDX-License-Identifier: Apache-2.0
/* A page of one profile, which has its data in it. */
import { App, NO_SHELL } from './app/app.ts';
import { Link } from './app/link.ts';
import { begin } from './begin.ts';
import { load } from './load.ts';

begin(async (root) => {
	const link = new Link();
	const app = new App(await load(document.getElementById('data')!), root, { ...NO_SHELL, link });
	link.onChange = () => app.onFragment();
});

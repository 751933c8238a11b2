// SPDX-License-Identifier: Apache-2.0
/* A page of one profile has its data in it; the page of a record asks its server for them. */
import { App, NO_SHELL } from './app/app.ts';
import { Link } from './app/link.ts';
import { load } from './load.ts';
import { Page } from './page/page.ts';

async function start() {
	const root = document.getElementById('app')!;
	const api = document.querySelector<HTMLMetaElement>('meta[name="flamelet-api"]');
	try {
		if (api) {
			await new Page(api.content, root).start();
			return;
		}
		const link = new Link();
		const app = new App(await load(document.getElementById('data')!), root, { ...NO_SHELL, link });
		link.onChange = () => app.onFragment();
	} catch (error) {
		const status = document.getElementById('status') ?? root;
		status.textContent = `This page cannot be shown: ${(error as Error).message}. ` +
			'It needs a browser of 2023 or later.';
		throw error;
	}
}

void start();

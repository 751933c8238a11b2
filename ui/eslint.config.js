// SPDX-License-Identifier: Apache-2.0
import tseslint from 'typescript-eslint';

export default tseslint.config(
	...tseslint.configs.strictTypeChecked,
	{
		languageOptions: {
			parserOptions: { projectService: true, tsconfigRootDir: new URL('.', import.meta.url).pathname },
		},
		rules: {
			'@typescript-eslint/no-non-null-assertion': 'off', // elements of typed arrays
			'@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
			'@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
			'@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [
				{ from: 'package', name: ['test'], package: 'node:test' },
			] }],
			'@typescript-eslint/no-dynamic-delete': 'off',
			'no-restricted-properties': ['error',
				{ property: 'innerHTML', message: 'Names are foreign: use textContent.' },
				{ property: 'outerHTML', message: 'Names are foreign: use textContent.' },
				{ property: 'insertAdjacentHTML', message: 'Names are foreign: use textContent.' },
			],
			'max-lines-per-function': ['error', { max: 60, skipComments: true }],
			'max-lines': ['error', 600],
			'max-len': ['error', { code: 120, tabWidth: 4 }],
			complexity: ['error', 20],
		},
	},
	{
		/* A file of tests is a list of them. */
		files: ['test/**'],
		rules: { 'max-lines-per-function': 'off' },
	},
);

/** The program of the page `/docs`, which `npm run build` copies beside the bundle. */
export const docsScript = {
  source: 'openapi-explorer/dist/browser/openapi-explorer.min.js',
  bundled: 'assets/openapi-explorer.js',
} as const;

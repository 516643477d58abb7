import type { HeaderList } from '../header-list.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { readDocs, readDocsScript, readOpenApi, readRoot } from './contract.ts';

export { docsScript } from './docs-script.ts';

export interface DocsRoutesDeps {
  /** Title of the page. */
  readonly title: string;
  /** The OpenAPI document, made when it is first asked for. */
  readonly openApiDocument: () => object;
  /** Reads the script of the package openapi-explorer. */
  readonly readDocsScript: () => Promise<string>;
}

/**
 * The browsable reference: a component that reads the OpenAPI document and can call the operations. Its lists show method
 * and path, and its forms hold each default and example, so that an operation runs as shown.
 */
const docsPage = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<script type="module" src="/docs/openapi-explorer.js"></script>
</head>
<body>
<openapi-explorer spec-url="/openapi.json" use-path-in-nav-bar></openapi-explorer>
<noscript>This page needs JavaScript. The document it shows is at <a href="/openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`;

/** Only scripts of this server run, and they call no other server. The component styles its elements one by one. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Pages that describe the operations of a server. It sends all of it, so it works without the internet. */
export function createDocsRoutes<Caller>(deps: DocsRoutesDeps): Route<Caller>[] {
  const page = docsPage(deps.title);
  let document: string | undefined;
  // Read once: a file that each request opens anew holds descriptors and buffers for as long as its client likes.
  let script: Promise<string> | undefined;
  return [
    defineRoute<typeof readRoot, Caller>(readRoot, async ({ rawHeaders }) => {
      if (isBrowser(rawHeaders)) return { kind: 'redirect', location: readDocs.path };
      return json(readRoot.success.example);
    }),
    defineRoute(readOpenApi, async () => {
      document ??= JSON.stringify(deps.openApiDocument());
      return { kind: 'text', text: document, mediaType: 'application/json' };
    }),
    defineRoute(readDocs, async () => ({
      kind: 'text',
      text: page,
      mediaType: readDocs.success.mediaType,
      headers: { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' },
    })),
    defineRoute(readDocsScript, async () => ({
      kind: 'text',
      text: await (script ??= deps.readDocsScript()),
      mediaType: readDocsScript.success.mediaType,
      headers: { 'Cache-Control': 'public, max-age=86400' },
    })),
  ];
}

const isBrowser = (headers: HeaderList): boolean =>
  headers.some(([name, value]) => name === 'accept' && value.includes('text/html'));

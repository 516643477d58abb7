import type { HeaderList } from '../header-list.ts';
import { defineRoute, json, type Route } from '../route.ts';
import { readDocs, readDocsScript, readOpenApi, readRoot } from './contract.ts';
import { contentSecurityPolicy, docsPage } from './page.ts';

export { docsScript } from './docs-script.ts';

export interface DocsRoutesDeps {
  /** Title of the page. */
  readonly title: string;
  /** The OpenAPI document, made when it is first asked for. */
  readonly openApiDocument: () => object;
  /** Reads the script of the package openapi-explorer. */
  readonly readDocsScript: () => Promise<string>;
}

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

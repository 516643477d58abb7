import type { Readable } from 'node:stream';
import type { HeaderList } from '../../../lib/http/header-list.ts';
import { defineRoute, json, type Route } from '../../../lib/http/route.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { readDocs, readDocsScript, readOpenApi, readRoot } from './contract.ts';
import { contentSecurityPolicy, page } from './page.ts';

export interface DocsRoutesDeps {
  /** The script of the package openapi-explorer, from its beginning each time. */
  readonly openDocsScript: () => Readable;
}

/** What describes the API. Nothing of it comes from elsewhere, so it works without the internet. */
export function createDocsRoutes<Caller>({ openDocsScript }: DocsRoutesDeps): Route<Caller>[] {
  let document: string | undefined;
  return [
    defineRoute<typeof readRoot, Caller>(readRoot, async ({ rawHeaders }) => {
      if (isBrowser(rawHeaders)) return { kind: 'redirect', location: readDocs.path };
      return json(readRoot.success.example);
    }),
    defineRoute(readOpenApi, async () => {
      document ??= JSON.stringify(openApiDocument());
      return { kind: 'text', text: document, mediaType: 'application/json' };
    }),
    defineRoute(readDocs, async () => ({
      kind: 'text',
      text: page,
      mediaType: readDocs.success.mediaType,
      headers: { 'Content-Security-Policy': contentSecurityPolicy, 'Referrer-Policy': 'no-referrer' },
    })),
    defineRoute(readDocsScript, async () => ({
      kind: 'stream',
      stream: openDocsScript(),
      mediaType: readDocsScript.success.mediaType,
      headers: { 'Cache-Control': 'public, max-age=86400' },
    })),
  ];
}

const isBrowser = (headers: HeaderList): boolean =>
  headers.some(([name, value]) => name === 'accept' && value.includes('text/html'));

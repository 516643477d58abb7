import { defineRoute, type Route } from '../../../lib/http/route.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { readOpenApi } from './contract.ts';

/** The description of the gateway, made when it is first asked for. */
export function createDocsRoutes<Caller>(): Route<Caller>[] {
  let document: string | undefined;
  return [
    defineRoute(readOpenApi, async () => {
      document ??= JSON.stringify(openApiDocument());
      return { kind: 'text', text: document, mediaType: 'application/json' };
    }),
  ];
}

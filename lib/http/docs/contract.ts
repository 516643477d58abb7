import { Type } from 'typebox';
import { type Contract, defineContract } from '../contract.ts';

const tag = 'Documentation';

/** The OpenAPI document of the other operations; it leaves these out. */
export const readOpenApi = defineContract({
  operationId: 'readOpenApi',
  method: 'get',
  path: '/openapi.json',
  tag,
  summary: 'Read the OpenAPI document',
  access: 'public',
  success: {
    kind: 'json',
    description: 'The document.',
    schema: Type.Object({ openapi: Type.Literal('3.1.1') }),
    example: { openapi: '3.1.1' },
  },
  errors: [],
});

/** The page for a user who knows only the address of the server. */
export const readRoot = defineContract({
  operationId: 'readRoot',
  method: 'get',
  path: '/',
  tag,
  summary: 'Find the documentation',
  access: 'public',
  success: {
    kind: 'json',
    description: 'Where to read on.',
    schema: Type.Object({ name: Type.Literal('windlass'), docs: Type.String(), openapi: Type.String() }),
    example: { name: 'windlass', docs: '/docs', openapi: '/openapi.json' },
    bodiless: { 302: 'A browser is sent to the page.' },
  },
  errors: [],
});

export const readDocs = defineContract({
  operationId: 'readDocs',
  method: 'get',
  path: '/docs',
  tag,
  summary: 'Browse the operations',
  access: 'public',
  success: { kind: 'text', description: 'A page.', mediaType: 'text/html; charset=utf-8', example: '<!doctype html>' },
  errors: [],
});

export const readDocsScript = defineContract({
  operationId: 'readDocsScript',
  method: 'get',
  path: '/docs/openapi-explorer.js',
  tag,
  summary: 'The program of the page',
  access: 'public',
  success: { kind: 'text', description: 'A script.', mediaType: 'text/javascript; charset=utf-8', example: '' },
  errors: [],
});

/** Pages about the operations. The OpenAPI document does not list them. */
export const contracts: readonly Contract[] = [readOpenApi, readRoot, readDocs, readDocsScript];

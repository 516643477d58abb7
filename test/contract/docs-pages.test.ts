import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestCaller, type TestServer } from '../support/http-server.ts';
import { openApiDocument } from '../../api/openapi/document.ts';
import { openApiDocument as gatewayDocument } from '../../gateway/openapi/document.ts';
import { readMetrics, readReadiness } from '../../lib/http/service/contract.ts';
import { readDocs, readDocsScript, readOpenApi, readRoot } from '../../lib/http/docs/contract.ts';
import { createDocsRoutes, docsScript } from '../../lib/http/docs/index.ts';

const script = createRequire(import.meta.url).resolve(docsScript.source);

describe.each([
  ['Windlass API', openApiDocument],
  ['Windlass tool gateway', gatewayDocument],
])('the documentation of the %s', (title, openApiDocument) => {
  let server: TestServer;
  let reads = 0;
  const readScript = (): Promise<string> => {
    reads += 1;
    return readFile(script, 'utf8');
  };
  beforeAll(async () => {
    server = await startTestServer(
      createDocsRoutes<TestCaller>({ title, openApiDocument, readDocsScript: readScript }),
    );
  });
  afterAll(() => server.close());

  it('serves the OpenAPI document without a token', async () => {
    const response = await fetch(`${server.url}/openapi.json`);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual(openApiDocument());
  });

  it('has a page that lets nothing in and nothing out but what this server serves', async () => {
    const response = await fetch(`${server.url}/docs`);
    const page = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    expect(page).not.toMatch(/(src|href|url)="?(https?:)?\/\//);
    expect(page).toContain(`<title>${title}</title>`);
    const addresses = [...page.matchAll(/(?:src|spec-url)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses).toEqual(['/docs/openapi-explorer.js', '/openapi.json']);
    for (const address of addresses) expect((await fetch(server.url + address)).status).toBe(200);
  });

  it('reads its script once, however many ask for it, and sends it as a whole', async () => {
    const text = await readFile(script, 'utf8');
    const before = reads;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${server.url}/docs/openapi-explorer.js`)),
    );
    for (const answer of answers) expect(await answer.text()).toBe(text);
    expect(answers[0]?.headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    expect([before, reads]).toEqual([1, 1]);
  });

  it('opens so that operations run as shown, and lists show method and path', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text();
    const [, attributes = ''] = /<openapi-explorer ([^>]*)>/.exec(page) ?? [];
    expect(attributes).toContain('use-path-in-nav-bar');
    // With hidden defaults the page sends empty fields, and no body where one is needed.
    expect(attributes).not.toMatch(/hide-|collapse/);
  });

  it('is what the root leads browsers to, and tells programs of', async () => {
    const html = { headers: { accept: 'text/html,application/xhtml+xml;q=0.9' }, redirect: 'manual' } as const;
    const browser = await fetch(`${server.url}/`, html);
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/docs']);
    const program = await fetch(`${server.url}/`);
    expect(await program.json()).toEqual({ name: 'windlass', docs: '/docs', openapi: '/openapi.json' });
    expect((await fetch(`${server.url}/`, { headers: { accept: 'text/html' } })).url).toBe(`${server.url}/docs`);
  });

  it('AMB-185 is outside of /v1, as all does that is not the product itself', () => {
    const outside = ['/.well-known/oauth-protected-resource', '/health'];
    const paths = Object.keys(openApiDocument()['paths'] as object);
    expect(outside).toEqual(expect.arrayContaining(paths.filter((path) => !path.startsWith('/v1/'))));
    for (const { path } of [readDocs, readDocsScript, readMetrics, readOpenApi, readReadiness, readRoot])
      expect(path).not.toMatch(/^\/v1/);
  });

  it('serves the script of the package that is installed', async () => {
    const response = await fetch(`${server.url}/docs/openapi-explorer.js`);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const text = await response.text();
    expect(text.length).toBeGreaterThan(500_000);
    expect(text).toContain('openapi-explorer');
  });
});

import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestCaller, type TestServer } from '../../../lib/http/test-server.ts';
import { docsScript } from '../../docs-script.ts';
import { openApiDocument } from '../../openapi/document.ts';
import { createDocsRoutes } from './index.ts';

const script = createRequire(import.meta.url).resolve(docsScript.source);

describe('the documentation', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(createDocsRoutes<TestCaller>({ openDocsScript: () => createReadStream(script) }));
  });
  afterAll(() => server.close());

  it('serves the OpenAPI document to anybody', async () => {
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
    const addresses = [...page.matchAll(/(?:src|spec-url)="([^"]+)"/g)].map(([, address]) => address);
    expect(addresses).toEqual(['/docs/openapi-explorer.js', '/openapi.json']);
    for (const address of addresses) expect((await fetch(server.url + address)).status).toBe(200);
  });

  it('serves the script of the package that is installed', async () => {
    const response = await fetch(`${server.url}/docs/openapi-explorer.js`);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const text = await response.text();
    expect(text.length).toBeGreaterThan(500_000);
    expect(text).toContain('openapi-explorer');
  });
});

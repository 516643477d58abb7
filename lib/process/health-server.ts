import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A check answers undefined when all is well, else the problem in one phrase. Cheap, and must not throw. */
export type HealthCheck = () => string | undefined;

/** The answer to a GET of one path. */
export interface HealthPage {
  readonly status: number;
  readonly text: string;
  /** Content type. Default: plain text. */
  readonly type?: string;
}

/** Makes a page anew for each request. An exception becomes 500 without its text. */
export type PageSource = () => HealthPage | Promise<HealthPage>;

interface HealthOptions {
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string | undefined;
  /** By path. */
  readonly pages: Readonly<Record<string, PageSource>>;
}

/** Serves `/healthz`, `/readyz`, `/metrics` or whatever its pages are. */
export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens when the promise resolves; rejects when the port is taken. */
export function startHealthServer({ port, host, pages }: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answer(response, { status: 405, text: 'only GET\n' });
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return answer(response, { status: 404, text: 'not found\n' });
    return void expose(response, page);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      const close = (): Promise<void> =>
        new Promise((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}

/** 200 where every check passes. Failed ones are named, one a line, under 503. */
export const checkPage =
  (checks: Readonly<Record<string, HealthCheck>>): PageSource =>
  () => {
    const problems = Object.entries(checks).flatMap(([name, check]) => {
      const problem = check();
      return problem === undefined ? [] : [`${name}: ${problem}\n`];
    });
    return problems.length === 0 ? { status: 200, text: 'ok\n' } : { status: 503, text: problems.join('') };
  };

/** The metrics as their registry writes them. */
export const metricsPage =
  (metrics: () => Promise<{ readonly text: string; readonly contentType: string }>): PageSource =>
  async () => {
    const { text, contentType } = await metrics();
    return { status: 200, text, type: contentType };
  };

async function expose(response: ServerResponse, page: PageSource): Promise<void> {
  try {
    answer(response, await page());
  } catch {
    answer(response, { status: 500, text: 'the answer could not be made\n' });
  }
}

function answer(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: HealthPage): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

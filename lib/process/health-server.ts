import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A check answers undefined when all is well, else the problem in one phrase. Cheap, and must not throw. */
export type Check = () => string | undefined;

interface HealthOptions {
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** Restart the process when one of these fails. */
  readonly live: Readonly<Record<string, Check>>;
  /** Send it no work while one of these fails. */
  readonly ready: Readonly<Record<string, Check>>;
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens when the promise resolves; rejects when the port is taken. Failed checks are named, one a line, under 503. */
export function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'only GET\n');
    if (path === '/healthz') return report(response, options.live);
    if (path === '/readyz') return report(response, options.ready);
    if (path === '/metrics') return void expose(response, options.metrics);
    return answer(response, 404, 'not found\n');
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
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

function report(response: ServerResponse, checks: Readonly<Record<string, Check>>): void {
  const problems = Object.entries(checks).flatMap(([name, check]) => {
    const problem = check();
    return problem === undefined ? [] : [`${name}: ${problem}\n`];
  });
  if (problems.length === 0) answer(response, 200, 'ok\n');
  else answer(response, 503, problems.join(''));
}

async function expose(response: ServerResponse, metrics: HealthOptions['metrics']): Promise<void> {
  try {
    const { text, contentType } = await metrics();
    answer(response, 200, text, contentType);
  } catch {
    answer(response, 500, 'metrics could not be collected\n');
  }
}

function answer(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

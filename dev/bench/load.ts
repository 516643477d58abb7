import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const run = promisify(execFile);
const autocannon = createRequire(import.meta.url).resolve('autocannon');
const connections = 32;

/** The request, sent again and again over 32 connections, each of which waits for its answer. */
interface Load {
  readonly url: URL;
  readonly token?: string;
  /** How long, or how often. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
}

/** Requests a second that were answered with 200. Sent by a process of its own; throws when one was not. */
export async function load({ url, token, until }: Load): Promise<number> {
  const header = token === undefined ? [] : ['--headers', `authorization=Bearer ${token}`];
  const amount = 'seconds' in until ? ['--duration', String(until.seconds)] : ['--amount', String(until.requests)];
  const words = [autocannon, '--json', '--connections', String(connections), ...amount, ...header, url.href];
  const { stdout } = await run(process.execPath, words);
  const result = JSON.parse(stdout) as Result;
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${bad} requests to ${url.pathname} failed`);
  return result['2xx'] / result.duration;
}

interface Result {
  readonly '2xx': number;
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly duration: number;
}

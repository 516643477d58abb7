import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KubeObject } from '../../../lib/kube/index.ts';
import type { Exchange } from './exchange.ts';

/** One line of a watch stream. */
interface WatchLine {
  readonly type: string;
  readonly object: KubeObject;
}

/**
 * The fate of a watch event: passed on, left out, sent twice, held back so many milliseconds (later events of the
 * stream wait behind it, as the order of a stream never changes), or followed by the end of the stream with a 410.
 */
export type WatchVerdict = 'send' | 'drop' | 'repeat' | 'expire' | { readonly delayMs: number };

export type WatchRule = (exchange: Exchange, line: WatchLine) => WatchVerdict;

/** Copies a watch stream line by line under a rule. Ends when either side does. */
export async function pipeWatch(
  from: IncomingMessage,
  to: ServerResponse,
  exchange: Exchange,
  rule: WatchRule,
): Promise<void> {
  to.flushHeaders();
  let rest = '';
  from.setEncoding('utf8');
  for await (const chunk of from) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (to.destroyed || to.writableEnded) return;
      if (line !== '') await pass(line, to, rule(exchange, JSON.parse(line) as WatchLine));
    }
  }
  to.end();
}

async function pass(line: string, to: ServerResponse, verdict: WatchVerdict): Promise<void> {
  if (verdict === 'drop') return;
  if (typeof verdict === 'object') await new Promise((resolve) => setTimeout(resolve, verdict.delayMs));
  if (verdict === 'expire') {
    to.end(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`);
    return;
  }
  to.write(`${line}\n`);
  if (verdict === 'repeat') to.write(`${line}\n`);
}

/** The API server's end of a watch whose start it has compacted away. */
const expired = {
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  code: 410,
  reason: 'Expired',
  message: 'too old resource version: 1 (2)',
};

import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gatewayAuditStream } from '../../lib/audit-chain/stream-name.ts';
import { buckets } from '../../lib/bus/kv/buckets.ts';
import { conversationStream } from '../../lib/conversation/record.ts';
import { edgeResultsStream } from '../../lib/edge/stream-name.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(resolve(root, 'docs/operating.md'), 'utf8');

/** Names that definitions take from a constant. */
const constants: Readonly<Record<string, string>> = { conversationStream, edgeResultsStream, gatewayAuditStream };

const sources = globSync('{api,gateway,relay,controllers,lib}/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts') && !file.startsWith('lib/bus/'))
  .map((file) => readFileSync(resolve(root, file), 'utf8'));

/** Names of the definitions that have a field, which no other objects have beside a name. */
const defined = (field: 'ttlMs' | 'retention'): string[] =>
  sources
    .flatMap((text) => [...text.matchAll(new RegExp(`\\bname: ('\\w+'|\\w+),[^{}]*?\\b${field}\\b`, 'g'))])
    .map(([, name = '']) => constants[name] ?? name.replaceAll("'", ''));

/** Names in a row of the table of names. */
function listed(stream: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${stream}\` | \``) && line.includes('`: '));
  return [...(row ?? '').matchAll(/`(\w+)`: \d+ (?:s|min|h|d)\b/g)].map(([, name = '']) => name);
}

describe('the streams that an administrator makes where Windlass may not', () => {
  it('name each log of our own', () => {
    const names = [...listed('WINDLASS_STREAM_<name>'), ...listed('WINDLASS_STREAM_<name>_<tenant>')];
    expect(names.toSorted()).toEqual(defined('retention').toSorted());
    expect(names.length).toBeGreaterThan(3);
  });

  it('name each bucket', () => {
    const own = Object.values(buckets).map(({ name }) => name);
    expect(listed('KV_windlass_<name>').toSorted()).toEqual([...own, ...defined('ttlMs')].toSorted());
  });
});

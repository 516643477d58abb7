import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { decodeLog } from '../../test/support/decode-log.ts';
import { rounds } from '../../test/support/rounds.ts';
import type { Captured } from './capture.ts';
import type { StreamName } from './captured-streams.ts';
import { parseTerminationMessage } from './parse-trailer.ts';

/** The decoder against the real runner, built from source. */
const dir = mkdtempSync(join(tmpdir(), 'windlass-capture-'));
const runner = join(dir, 'runner');

beforeAll(() => {
  const env = { ...process.env, CGO_ENABLED: '0' };
  execFileSync('go', ['build', '-o', runner, '.'], { cwd: resolve(import.meta.dirname, '../../runner'), env });
}, 120_000);

afterAll(() => rmSync(dir, { recursive: true }));

function run(...args: string[]): Captured & { readonly status: number | null } {
  const message = join(dir, 'termination-log');
  const child = spawnSync(runner, ['run', '--termination-log', message, ...args], {
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(child.stderr.toString()).toBe('');
  const captured = decodeLog(child.stdout);
  expect(parseTerminationMessage(readFileSync(message, 'utf8'))).toEqual(captured.trailer);
  return { ...captured, status: child.status };
}

/** As `write` does, of short parts, by the shell alone: a `cat` for each part takes longer than all else. */
function print(parts: readonly (readonly [StreamName, Uint8Array])[]): Captured {
  const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`;
  const commands = parts.map(
    ([stream, bytes]) => `printf '${Array.from(bytes, octal).join('')}'${stream === 'stderr' ? ' >&2' : ''}`,
  );
  return run('--', 'sh', '-c', [...commands, ':'].join('\n'));
}

/** Has a shell write the parts, each to its stream, in this order. */
function write(parts: readonly (readonly [StreamName, Uint8Array])[]): Captured {
  const commands = parts.map(([stream, bytes], i) => {
    writeFileSync(join(dir, `part-${i}`), bytes);
    return `cat ${join(dir, `part-${i}`)}${stream === 'stderr' ? ' >&2' : ''}`;
  });
  return run('--', 'sh', '-c', [...commands, ':'].join('\n'));
}

/** Whether all that was written to the stream came back, and the trailer says so. */
function isWhole(captured: Captured, name: StreamName, written: Uint8Array): boolean {
  const { bytes, total_bytes, truncated } = captured.trailer[name];
  return (
    Buffer.compare(captured[name], written) === 0 &&
    bytes === written.length &&
    total_bytes === written.length &&
    !truncated
  );
}

describe('a log of the real runner', () => {
  it('WF-CR-19 gives back any bytes of both streams in any order', () => {
    const part = fc.tuple(
      fc.constantFrom<StreamName[]>('stdout', 'stderr'),
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.string({ unit: 'binary', maxLength: 50 }).map((text) => Uint8Array.from(Buffer.from(text))),
        fc
          .array(fc.constantFrom(0x0a, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x7b, 0x61), { maxLength: 100 })
          .map((values) => Uint8Array.from(values)),
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const captured = print(parts);
        for (const name of ['stdout', 'stderr'] as const) {
          const want = Buffer.concat(parts.filter(([stream]) => stream === name).map(([, bytes]) => bytes));
          expect(isWhole(captured, name, want)).toBe(true);
        }
      }),
      { numRuns: rounds(20) },
    );
  });

  it('WF-CR-20 WF-CR-21 gives back a mebibyte of random bytes on each stream', () => {
    const random = (seed: number): Buffer => {
      let state = seed;
      return Buffer.from(
        Array.from({ length: limits.outputStreamBytes }, () => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return state >>> 24;
        }),
      );
    };
    const [out, err] = [random(1), random(2)];
    const captured = write([
      ['stdout', out],
      ['stderr', err],
    ]);
    expect(isWhole(captured, 'stdout', out)).toBe(true);
    expect(isWhole(captured, 'stderr', err)).toBe(true);
  });

  const full = limits.outputStreamBytes;
  const ends: Record<string, Buffer> = {
    'lines of one byte': Buffer.alloc(full, 'y\n'),
    'empty lines': Buffer.alloc(full, '\n'),
    'CR LF lines': Buffer.alloc(full, '\r\n'),
    'one terminated line': Buffer.concat([Buffer.alloc(full - 1, 'x'), Buffer.from('\n')]),
    'one unterminated line': Buffer.alloc(full, 'x'),
    'escape bytes': Buffer.alloc(full, '\x1f'),
    'NUL bytes': Buffer.alloc(full),
  };
  it.each(Object.entries(ends))('WF-CR-20 WF-CR-21 gives back a mebibyte of %s', (_title, bytes) => {
    const captured = write([
      ['stdout', bytes],
      ['stderr', bytes],
    ]);
    expect(isWhole(captured, 'stdout', bytes)).toBe(true);
    expect(isWhole(captured, 'stderr', bytes)).toBe(true);
  });

  const cut: Record<string, { written: Buffer; kept: number }> = {
    'AMB-079 the limit − 1 is whole': { written: Buffer.alloc(full - 1, 'a'), kept: full - 1 },
    'AMB-079 the limit is whole': { written: Buffer.alloc(full, 'a'), kept: full },
    'AMB-079 the limit + 1 is cut': { written: Buffer.alloc(full + 1, 'a'), kept: full },
    'AMB-079 é across the limit is left out': {
      written: Buffer.concat([Buffer.alloc(full - 1, 'a'), Buffer.from('é')]),
      kept: full - 1,
    },
    'AMB-079 😀 with one byte too many is left out': {
      written: Buffer.concat([Buffer.alloc(full - 3, 'a'), Buffer.from('😀')]),
      kept: full - 3,
    },
    'AMB-079 😀 up to the limit stays': {
      written: Buffer.concat([Buffer.alloc(full - 4, 'a'), Buffer.from('😀!')]),
      kept: full,
    },
  };
  it.each(Object.entries(cut))('%s', (_title, { written, kept }) => {
    const { stdout, trailer } = write([['stdout', written]]);
    expect(Buffer.compare(stdout, written.subarray(0, kept))).toBe(0);
    expect(trailer.stdout).toMatchObject({
      bytes: kept,
      total_bytes: written.length,
      truncated: kept < written.length,
    });
  });

  it('WF-CR-19 AMB-160 a missing command is exit code 127 with one line of stderr', () => {
    const { status, stderr, trailer } = run('--', 'no-such-command');
    expect(status).toBe(127);
    expect(trailer).toMatchObject({ exit_code: 127, reason: 'not_found' });
    expect(Buffer.from(stderr).toString()).toMatch(/^runner: command not found: no-such-command .*\n$/);
  });
});

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { decodeLog } from '../../test/support/decode-log.ts';
import { createCapture } from './capture.ts';
import { CaptureError } from './capture-error.ts';
import type { StreamName } from './captured-streams.ts';

type Written = readonly (readonly [StreamName, Uint8Array])[];

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const join = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts);
const streamOf = (written: Written, name: StreamName): Uint8Array =>
  join(written.filter(([stream]) => stream === name).map(([, part]) => part));

/** A runner's trailer for these bytes. */
const report = (data: Uint8Array) => ({
  bytes: data.length,
  total_bytes: data.length,
  sha256: createHash('sha256').update(data).digest('hex'),
  truncated: false,
});

const trailerOf = (stdout: Uint8Array, stderr: Uint8Array, changes: object = {}): object => ({
  v: 1,
  exit_code: 3,
  started_at: '2026-01-02T03:04:05.000000006Z',
  finished_at: '2026-01-02T03:04:06.5Z',
  duration_ms: 1500,
  stdout: report(stdout),
  stderr: report(stderr),
  ...changes,
});

const trailerLine = (trailer: object): Uint8Array => Buffer.from(`\x1d${JSON.stringify(trailer)}\n`);

/** A fragment: escaped bytes without a line end of their own. */
function fragment(stream: StreamName, data: Uint8Array): Uint8Array {
  const escapes: Readonly<Record<string, string>> = { '\n': '\x1f\x1e', '\r': '\x1f\x1d', '\x1f': '\x1f\x1f' };
  const escaped = Array.from(Buffer.from(data).toString('latin1'), (char) => escapes[char] ?? char).join('');
  return bytes(`\x1d${stream === 'stdout' ? '\x1f' : '\x1e'}${escaped}\n`);
}

/** A line of text; `data` has no line feed. */
function line(stream: StreamName, data: Uint8Array): Uint8Array {
  const mark = stream === 'stderr' ? '\x1e' : [0x1d, 0x1e, 0x1f].includes(data[0] ?? 0) ? '\x1f' : '';
  return join([bytes(mark), data, bytes('\n')]);
}

/** A log made independently of the runner: each piece as lines and a fragment, or as one fragment. */
function encode(written: readonly (readonly [StreamName, Uint8Array, boolean])[]): Uint8Array {
  const parts = written.map(([stream, data, packed]) => {
    if (packed) return fragment(stream, data);
    const lines = Buffer.from(data).toString('latin1').split('\n').map(bytes);
    const rest = lines.pop() ?? new Uint8Array();
    return join([...lines.map((text) => line(stream, text)), ...(rest.length > 0 ? [fragment(stream, rest)] : [])]);
  });
  const plain = written.map(([stream, data]) => [stream, data] as const);
  return join([...parts, trailerLine(trailerOf(streamOf(plain, 'stdout'), streamOf(plain, 'stderr')))]);
}

/** Bytes in which the protocol's own are common. */
const nasty = fc
  .array(fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x7b, 0x00, 0xff, 0xc3), fc.nat(255)), {
    maxLength: 60,
  })
  .map((values) => Uint8Array.from(values));
const pieces = fc.array(fc.tuple(fc.constantFrom<StreamName[]>('stdout', 'stderr'), nasty, fc.boolean()), {
  maxLength: 12,
});

function failureOf(log: Uint8Array, limit?: number): CaptureError {
  try {
    decodeLog(log, { limit });
  } catch (error) {
    if (error instanceof CaptureError) return error;
    throw error;
  }
  throw new Error('the log was accepted');
}

describe('the whole of a log', () => {
  it('WF-CR-19 WF-CR-20 WF-CR-21 gives both streams back byte for byte, whatever they hold', () => {
    fc.assert(
      fc.property(pieces, (written) => {
        const plain = written.map(([stream, data]) => [stream, data] as const);
        const captured = decodeLog(encode(written));
        expect(Buffer.compare(captured.stdout, streamOf(plain, 'stdout'))).toBe(0);
        expect(Buffer.compare(captured.stderr, streamOf(plain, 'stderr'))).toBe(0);
        expect(captured.trailer.exit_code).toBe(3);
      }),
      { numRuns: 1000 },
    );
  });

  it('WF-CR-19 gives the same however the log is cut into chunks', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (written, cuts) => {
        const log = encode(written);
        const capture = createCapture();
        for (let at = 0, i = 0; at < log.length; i += 1) {
          const next = at + (cuts[i % cuts.length] ?? 1);
          const chunk = Uint8Array.from(log.subarray(at, next));
          capture.push(chunk);
          chunk.fill(0x58); // the reader may use its buffer again
          at = next;
        }
        expect(capture.finish()).toEqual(decodeLog(log));
      }),
    );
  });

  it('WF-CR-19 its events carry all output in the order of the log, and then the trailer', () => {
    const log = join([
      bytes('one\n\x1etwo\n\x1f\x1dthree\nfour\n\x1d\x1ffive\n'),
      trailerLine(trailerOf(bytes('one\n\x1dthree\nfour\nfive'), bytes('two\n'))),
    ]);
    const events = createCapture().push(log);
    expect(
      events.map((event) =>
        event.kind === 'output' ? [event.stream, Buffer.from(event.bytes).toString()] : [event.kind],
      ),
    ).toEqual([['stdout', 'one\n'], ['stderr', 'two\n'], ['stdout', '\x1dthree\nfour\nfive'], ['trailer']]);
  });

  it('WF-CR-19 knows when nothing more is to be read', () => {
    const log = encode([['stdout', bytes('a\n'), false]]);
    const capture = createCapture();
    capture.push(log.subarray(0, log.length - 1));
    expect(capture.isComplete()).toBe(false);
    capture.push(log.subarray(log.length - 1));
    expect(capture.isComplete()).toBe(true);
  });

  it('WF-CR-19 ignores what a log reader appends after the trailer', () => {
    const log = encode([['stdout', bytes('a'), false]]);
    expect(decodeLog(join([log, bytes('\x1dfailed to watch file: too many open files')])).stdout).toEqual(
      Uint8Array.from(bytes('a')),
    );
  });
});

describe('a log that cannot be taken', () => {
  const good = encode([
    ['stdout', bytes('one\ntwo\n'), false],
    ['stderr', bytes('three\n'), false],
  ]);
  const cases: Record<string, { log: Uint8Array; failure: string; stdout: string }> = {
    'WF-CR-19 an empty log has no trailer': { log: new Uint8Array(), failure: 'TrailerMissing', stdout: '' },
    'WF-CR-19 a log of a killed runner keeps its lines': {
      log: bytes('one\nhalf a li'),
      failure: 'TrailerMissing',
      stdout: 'one\nhalf a li',
    },
    'WF-CR-19 a trailer cut by one byte is none': {
      log: good.subarray(0, -1),
      failure: 'TrailerMissing',
      stdout: 'one\ntwo\n',
    },
    'WF-CR-19 a rotated log has lost its head': { log: good.subarray(4), failure: 'HashMismatch', stdout: 'two\n' },
    'WF-CR-19 a changed byte is noticed': {
      log: Buffer.from(Buffer.from(good).toString('latin1').replace('two', 'twO'), 'latin1'),
      failure: 'HashMismatch',
      stdout: 'one\ntwO\n',
    },
    'WF-CR-19 invalid UTF-8 that a client replaced is noticed': {
      log: Buffer.from(Buffer.from(encode([['stdout', bytes('\xff\n'), false]])).toString('utf8')),
      failure: 'HashMismatch',
      stdout: '\xef\xbf\xbd\n',
    },
    'WF-CR-19 an unknown record is malformed, what came before it stays': {
      log: bytes('one\n\x1dxyz\n'),
      failure: 'MalformedLog',
      stdout: 'one\n',
    },
    'WF-CR-19 an unknown escape is malformed': { log: bytes('\x1d\x1fa\x1fb\n'), failure: 'MalformedLog', stdout: 'a' },
    'WF-CR-19 a fragment cut in an escape is malformed': {
      log: bytes('\x1d\x1fa\x1f\n'),
      failure: 'MalformedLog',
      stdout: 'a',
    },
    'WF-CR-19 an endless trailer is malformed': {
      log: bytes(`\x1d{${' '.repeat(4096)}}\n`),
      failure: 'MalformedLog',
      stdout: '',
    },
    'WF-CR-19 a trailer that is no JSON is malformed': {
      log: bytes('\x1d{no\n'),
      failure: 'MalformedTrailer',
      stdout: '',
    },
    'WF-CR-19 a trailer of another version is malformed': {
      log: trailerLine(trailerOf(bytes(''), bytes(''), { v: 2 })),
      failure: 'MalformedTrailer',
      stdout: '',
    },
  };

  it.each(Object.entries(cases))('%s', (_title, { log, failure, stdout }) => {
    const error = failureOf(log);
    expect(error.failure).toBe(failure);
    expect(error.reason).toBe(failure);
    expect(Buffer.from(error.streams.stdout).toString('latin1')).toBe(stdout);
  });

  it.each([-1, 0])('AMB-079 a stream of the limit %+d bytes is accepted', (extra) => {
    const data = Buffer.alloc(limits.outputStreamBytes + extra, 'a');
    expect(decodeLog(encode([['stderr', data, false]])).stderr.length).toBe(data.length);
  });

  it('AMB-079 a stream longer than the limit is malformed', () => {
    const data = Buffer.alloc(limits.outputStreamBytes + 1, 'a');
    const error = failureOf(encode([['stderr', data, false]]));
    expect(error.failure).toBe('MalformedLog');
    expect(error.streams.stderr.length).toBe(limits.outputStreamBytes);
  });

  it('WF-CR-19 holds no more than the limit of an endless log', () => {
    const capture = createCapture({ limit: 1000 });
    const chunk = Buffer.alloc(64 * 1024, 'abc\n');
    for (let i = 0; i < 100; i += 1) capture.push(chunk);
    expect(capture.isComplete()).toBe(true);
    expect(() => capture.finish()).toThrow(expect.objectContaining({ failure: 'MalformedLog' }));
  });
});

describe('speed', () => {
  /** Processor time, least of several tries: what else the machine does must not count. */
  const cost = (work: () => void): number => {
    const tries = Array.from({ length: 7 }, () => {
      const before = process.cpuUsage();
      for (let i = 0; i < 3; i += 1) work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.max(1, Math.min(...tries));
  };
  const mebibyte = limits.outputStreamBytes;
  const full: Record<string, { data: Uint8Array; packed: boolean; copies: number }> = {
    'lines of 64 bytes': { data: Buffer.alloc(mebibyte, `${'x'.repeat(63)}\n`), packed: false, copies: 20 },
    'one line': { data: Buffer.alloc(mebibyte, 'x'), packed: false, copies: 20 },
    'nothing but escapes': { data: Buffer.alloc(mebibyte, '\x1f'), packed: true, copies: 100 },
  };

  it.each(Object.entries(full))('WF-CR-20 a full log of %s costs a few copies of it', (_title, row) => {
    const eighth = encode([['stdout', row.data.subarray(0, mebibyte / 8), row.packed]]);
    const whole = encode([['stdout', row.data, row.packed]]);
    const copy = cost(() => createHash('sha256').update(Uint8Array.from(whole)).digest());
    const decoding = cost(() => decodeLog(whole));
    expect(decoding / copy).toBeLessThan(row.copies);
    // Linear is 8, quadratic is 64.
    expect(decoding / cost(() => decodeLog(eighth))).toBeLessThan(32);
  });
});

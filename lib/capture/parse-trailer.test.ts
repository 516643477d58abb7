import { describe, expect, it } from 'vitest';
import { CaptureError } from './capture-error.ts';
import { parseTerminationMessage } from './parse-trailer.ts';
import type { Trailer } from './trailer.ts';

const stream = { bytes: 2, total_bytes: 3, sha256: 'a'.repeat(64), truncated: true };
const trailer: Trailer = {
  v: 1,
  exit_code: 137,
  signal: 'SIGKILL',
  reason: 'terminated',
  started_at: '2026-01-02T03:04:05.000000006Z',
  finished_at: '2026-01-02T03:04:06Z',
  duration_ms: 999,
  stdout: stream,
  stderr: { ...stream, truncated: false },
};

describe('parseTerminationMessage', () => {
  it('WF-CR-19 reads what the runner writes', () => {
    expect(parseTerminationMessage(JSON.stringify(trailer))).toEqual(trailer);
  });

  it('WF-CR-19 leaves out fields that a newer runner may add', () => {
    expect(parseTerminationMessage(JSON.stringify({ ...trailer, rss: 1 }))).toEqual(trailer);
  });

  it('says that memory ran out', () => {
    expect(parseTerminationMessage(JSON.stringify({ ...trailer, oom_killed: true })).oom_killed).toBe(true);
  });

  it.each([0, 255])('WF-CR-19 accepts exit code %d', (exit_code) => {
    expect(parseTerminationMessage(JSON.stringify({ ...trailer, exit_code })).exit_code).toBe(exit_code);
  });

  it.each(['', ' \n'])('WF-CR-19 an empty message (%j) is a missing trailer', (message) => {
    expect(() => parseTerminationMessage(message)).toThrow(expect.objectContaining({ failure: 'TrailerMissing' }));
  });

  const wrong: Record<string, unknown> = {
    'no JSON': undefined,
    'a list': [],
    null: null,
    'version 0': { ...trailer, v: 0 },
    'version 2': { ...trailer, v: 2 },
    'exit code -1': { ...trailer, exit_code: -1 },
    'exit code 256': { ...trailer, exit_code: 256 },
    'exit code 1.5': { ...trailer, exit_code: 1.5 },
    'an exit code in words': { ...trailer, exit_code: 'one' },
    'a signal by number': { ...trailer, signal: 9 },
    'a reason that is no text': { ...trailer, reason: {} },
    'an error that is no text': { ...trailer, error: 1 },
    'memory that ran out, in words': { ...trailer, oom_killed: 'yes' },
    'no start': { ...trailer, started_at: undefined },
    'a start that is no time': { ...trailer, started_at: 'yesterday' },
    'an end that is no time': { ...trailer, finished_at: 5 },
    'a negative duration': { ...trailer, duration_ms: -1 },
    'no stdout': { ...trailer, stdout: undefined },
    'stderr as text': { ...trailer, stderr: 'x' },
    'a negative length': { ...trailer, stdout: { ...stream, bytes: -1 } },
    'no total': { ...trailer, stdout: { ...stream, total_bytes: undefined } },
    'a short hash': { ...trailer, stdout: { ...stream, sha256: 'a'.repeat(63) } },
    'a long hash': { ...trailer, stdout: { ...stream, sha256: 'a'.repeat(65) } },
    'a hash in capitals': { ...trailer, stdout: { ...stream, sha256: 'A'.repeat(64) } },
    'truncated as text': { ...trailer, stderr: { ...stream, truncated: 'yes' } },
  };

  it.each(Object.entries(wrong))('WF-CR-19 refuses a message with %s', (_title, value) => {
    const read = (): Trailer => parseTerminationMessage(value === undefined ? 'no {' : JSON.stringify(value));
    expect(read).toThrow(CaptureError);
    expect(read).toThrow(expect.objectContaining({ failure: 'MalformedTrailer' }));
  });
});

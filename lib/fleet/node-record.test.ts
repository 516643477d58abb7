import { describe, expect, it } from 'vitest';
import { nodeRecord, tailOf } from './node-record.ts';

describe('the tail of an output', () => {
  it.each([
    ['4095 bytes', 'x'.repeat(4_095), 4_095],
    ['4096 bytes', 'x'.repeat(4_096), 4_096],
    ['4097 bytes', 'x'.repeat(4_097), 4_096],
    ['4097 bytes that begin within a character', `€${'x'.repeat(4_094)}`, 4_094],
    ['4096 bytes that begin with a character', `€${'x'.repeat(4_093)}`, 4_096],
  ])('AMB-115 of %s has whole characters of 4 KiB at most', (_what, text, want) => {
    const tail = tailOf(text);
    expect(Buffer.byteLength(tail)).toBe(want);
    expect(text.endsWith(tail)).toBe(true);
  });

  it.each([
    [127, 1_023, 127],
    [128, 1_024, 128],
    // The first of its characters has two bytes.
    [129, 1_025, 127],
  ])('EDGE-RES-29 leaves %i bytes of a code and %i of a message, or what a record takes', (code, message, kept) => {
    const result = {
      outcome: 'err',
      code: 'é'.repeat(code / 2) + 'c'.repeat(code % 2),
      message: 'm'.repeat(message),
    } as const;
    const ended = { nodeId: 'n', commandId: 'c', tails: undefined, sentAt: undefined, endedAt: 0 };
    const record = nodeRecord({ ...ended, result: { ...result, exit_code: 0 } });
    expect(Buffer.byteLength(record.code ?? '')).toBe(kept);
    expect(Buffer.byteLength(record.message ?? '')).toBe(Math.min(message, 1_024));
  });

  it('AMB-115 is that of the answer, where the host has given one', () => {
    const payload = { stdout: 'x'.repeat(5_000), stderr: 'y' };
    const result = { outcome: 'ok', exit_code: 0, duration_ms: 1, payload } as const;
    const tails = { stdout: 'live', stderr: 'live' };
    const record = nodeRecord({ nodeId: 'n', commandId: 'c', result, tails, sentAt: undefined, endedAt: 0 });
    expect([record.stdout_tail.length, record.stderr_tail]).toEqual([4_096, 'y']);
  });

  it('AMB-115 has the answer of a tool that puts nothing out, such as host.info', () => {
    const result = { outcome: 'ok', exit_code: 0, duration_ms: 1, payload: { os: 'linux' } } as const;
    const record = nodeRecord({ nodeId: 'n', commandId: 'c', result, tails: undefined, sentAt: undefined, endedAt: 0 });
    expect([record.stdout_tail, record.stderr_tail]).toEqual(['{"os":"linux"}\n', '']);
  });
});

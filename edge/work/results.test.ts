import { describe, expect, it } from 'vitest';
import { edgeLimits } from '../../lib/edge/index.ts';
import { Struct } from '../../proto/generated/google/protobuf/struct.ts';
import { resultOf } from './results.ts';

const answer = (stdout: string) => ({ content: '', isError: false, exitCode: 0, output: { stdout, stderr: '' } });

function payloadOf(stdout: string): { readonly bytes: number; readonly fields: Readonly<Record<string, unknown>> } {
  const { outcome } = resultOf('cmd.run', answer(stdout), 5);
  const value = outcome?.$case === 'ok' ? (outcome.value.payload?.value ?? new Uint8Array()) : new Uint8Array();
  return { bytes: value.byteLength, fields: Struct.unwrap(Struct.decode(value)) as Readonly<Record<string, unknown>> };
}

describe('the result of a command on a host', () => {
  it('is whole where it fits', () => {
    expect(payloadOf('a\n'.repeat(1_000)).fields).toEqual({ stdout: 'a\n'.repeat(1_000), stderr: '', exit_code: 0 });
  });

  it.each([
    ['letters', 'x', 600_000],
    ['control characters, six bytes each in JSON', '\0', 400_000],
    ['quotes', '"', 600_000],
    ['characters of three bytes', '€', 300_000],
    ['characters of four bytes', '🛠', 200_000],
  ])('EDGE-PROTO-27 keeps the end of too many %s, within both limits of the relay', (_what, character, count) => {
    const { bytes, fields } = payloadOf(`first${character.repeat(count)}last`);
    expect(fields).toMatchObject({ truncated: true, exit_code: 0 });
    expect(bytes).toBeLessThanOrEqual(edgeLimits.payloadBytes);
    expect(Buffer.byteLength(JSON.stringify(fields))).toBeLessThanOrEqual(edgeLimits.payloadJsonBytes);
    const stdout = String(fields['stdout']);
    expect(stdout.endsWith(`${character}last`)).toBe(true);
    expect(stdout.replaceAll(character, '')).toBe('last');
    expect(stdout.length).toBeGreaterThan(50_000);
  });
});

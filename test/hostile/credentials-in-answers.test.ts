import { describe, expect, it } from 'vitest';
import { credentialLimits } from '../../lib/credentials/credential.ts';
import { withoutSecrets } from '../../lib/credentials/without-secrets.ts';
import { restedTurnMs, turnMs } from './support/turns.ts';

const bodyBytes = 10 * 1_048_576;
const half = Math.floor(credentialLimits.valueLength / 2) - 1;

/** Credentials as long as they may be, and what the body of an answer repeats. */
const cases: Readonly<Record<string, readonly [credential: string, repeated: string]>> = {
  'one letter, with another one in its middle': [`${'a'.repeat(half)}b${'a'.repeat(half)}`, 'a'],
  'one letter, with another one at its end': [`${'a'.repeat(2 * half)}b`, 'a'],
  'one letter, with another one at its beginning': [`b${'a'.repeat(2 * half)}`, 'a'],
  'two letters, out of step in its middle': [`${'ab'.repeat(half / 2)}b${'ab'.repeat(half / 2)}`, 'ab'],
  'all but the last letter of the credential': [`${'ab'.repeat(half)}c`, `${'ab'.repeat(half)}d`],
};

describe('an attacker who may make a credential and the answer of its upstream', () => {
  it.each(Object.entries(cases))(
    'does not hold the loop of the gateway: %s',
    async (_title, [credential, repeated]) => {
      const body = Buffer.alloc(bodyBytes, repeated);
      expect(await restedTurnMs(() => withoutSecrets(body, [credential]), turnMs)).toBeLessThan(turnMs);
    },
  );

  it.each([
    ['one', '\\'],
    ['as many as it may have', String.raw`\u0061`],
  ])('does not hold it with escapes of JSON, %s', async (_title, escape) => {
    const [credential = '', repeated = ''] = cases['one letter, with another one in its middle'] ?? [];
    const body = Buffer.alloc(bodyBytes, escape.length > 1 ? escape : repeated);
    body.write(escape);
    expect(await restedTurnMs(() => withoutSecrets(body, [credential]), turnMs)).toBeLessThan(turnMs);
  });

  it('does not hold it with two credentials of a Basic header, and still has them taken out', async () => {
    const secrets = [half, half - 1].map((length) => `${'a'.repeat(length)}b${'a'.repeat(half)}`);
    const body = Buffer.concat([
      Buffer.alloc(bodyBytes - secrets.join('').length, 'a'),
      Buffer.from(secrets.join('c')),
    ]);
    expect(await restedTurnMs(() => withoutSecrets(body, secrets), turnMs)).toBeLessThan(turnMs);
    expect((await withoutSecrets(body, secrets))?.toString('utf8').match(/\[secret\]/g)).toHaveLength(2);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { KubeError } from '../kube/index.ts';
import { isCancelledBefore } from './cancelled-before.ts';

const chart = resolve(import.meta.dirname, '../../charts/windlass');
const patch = { verb: 'patch', resource: 'x' };

/** Messages of the chart's own rules. */
const messages = (() => {
  const files = readdirSync(chart, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  const texts = files.map((file) => readFileSync(join(chart, file), 'utf8'));
  return new Set(texts.flatMap((text) => text.match(/cancel[^'"\n]*taken back/g) ?? []));
})();

it('each kind that can be cancelled says so in words that are known', () => {
  expect(messages.size).toBeGreaterThan(1);
  for (const message of messages) {
    const refused = new KubeError(422, { reason: 'Invalid', message: `X "c" is invalid: spec: ${message}` }, patch);
    expect([message, isCancelledBefore(refused)]).toEqual([message, true]);
  }
});

it.each([
  [422, 'admission webhook "w" denied the request: not on Fridays'],
  [409, 'cancel: cannot be taken back'],
])('no other refusal is one: %i %s', (status, message) => {
  expect(isCancelledBefore(new KubeError(status, { message }, patch))).toBe(false);
});

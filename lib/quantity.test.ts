import { expect, it } from 'vitest';
import { growthOf, proportional } from '../test/support/processor-time.ts';
import { isQuantity, quantityValue } from './quantity.ts';

it.each([
  ['512Mi', 536_870_912],
  ['1.5Gi', 1_610_612_736],
  ['512M', 512_000_000],
  ['1e3', 1000],
  ['12E6', 12_000_000],
  ['2E', 2e18],
  ['100m', 0.1],
  ['.5Ki', 512],
  ['5.', 5],
  ['+1k', 1000],
  ['-1', -1],
  ['0', 0],
])('AMB-192 %s is %d', (text, want) => {
  expect(quantityValue(text)).toBeCloseTo(want, 9);
});

it.each([
  '',
  '.',
  'Mi',
  '1 Mi',
  '1mi',
  '1KI',
  '1ki',
  '1e',
  '1e1e1',
  '1Mi ',
  '--1',
  '0x10',
  '1_000',
  '1,5Gi',
  'Infinity',
])('AMB-192 %j is no quantity', (text) => {
  expect(isQuantity(text)).toBe(false);
});

it('a text of digits that is no amount takes time in proportion to its length', async () => {
  expect(await growthOf(1_000, (size) => isQuantity(`${'1'.repeat(size)}x`))).toBeLessThan(proportional);
});

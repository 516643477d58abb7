import { describe, expect, it } from 'vitest';
import { preferredWaitMs } from './preferred-wait.ts';

describe('the wait that a pod prefers', () => {
  it.each([
    ['wait=25', 25_000],
    ['respond-async, wait=25', 25_000],
    ['wait="0"', 0],
    ['Wait = 5 ; strict', 5_000],
    ['wait=299', 299_000],
    ['wait=300', 300_000],
    ['wait=301', 300_000],
    ['wait=9999999', undefined],
    ['await=25', undefined],
    ['wait=-1', undefined],
    ['wait', undefined],
  ])('of %s is %s ms', (value, want) => {
    expect(preferredWaitMs({ rawHeaders: [['prefer', value]] })).toBe(want);
  });

  it('is unknown without the header', () => {
    expect(preferredWaitMs({ rawHeaders: [['x-prefer', 'wait=1']] })).toBeUndefined();
  });
});

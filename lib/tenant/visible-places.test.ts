import { describe, expect, it } from 'vitest';
import { visiblePlaces } from './visible-places.ts';

describe('the places that a tenant sees', () => {
  it.each([
    ['tenant-acme', ['tenant-acme', 'windlass-global']],
    ['windlass-global', ['windlass-global']],
    [undefined, ['windlass-global']],
  ])('from %s are %j', (namespace, places) => {
    expect(visiblePlaces(namespace)).toEqual(places);
  });
});

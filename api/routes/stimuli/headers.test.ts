import { expect, it } from 'vitest';
import { headersOf } from './headers.ts';

it('STIM-05 headers are a map from name to text; what was sent several times is joined', () => {
  expect(
    headersOf([
      ['host', 'a'],
      ['x-tag', 'one'],
      ['x-tag', 'two'],
    ]),
  ).toEqual({ host: 'a', 'x-tag': 'one, two' });
});

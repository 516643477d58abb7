import { expect, it } from 'vitest';
import { createValidator } from '../../../crds/validators.ts';
import { submitStimulus } from './contract.ts';

const problems = createValidator(submitStimulus.body.schema);

it('STIM-09 content is required and a string, and an empty string is one', () => {
  expect(problems({ source: 'http_api', content: '' })).toEqual([]);
  expect(problems({ source: 'http_api' })).toMatchObject([{ path: 'content' }]);
  expect(problems({ source: 'http_api', content: {} })).toMatchObject([{ path: 'content' }]);
});

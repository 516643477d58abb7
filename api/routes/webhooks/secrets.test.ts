import { describe, expect, it } from 'vitest';
import { secretsFromEnvironment } from './secrets.ts';

describe('secretsFromEnvironment', () => {
  it.each([
    ['my-ci', 'SVC_WEBHOOK_SECRET_MY_CI'],
    ['my.ci', 'SVC_WEBHOOK_SECRET_MY_CI'],
    ['github', 'SVC_WEBHOOK_SECRET_GITHUB'],
    ['a-b.c-1', 'SVC_WEBHOOK_SECRET_A_B_C_1'],
  ])('STIM-21 AMB-044 takes that of %s from %s', (source, variable) => {
    expect(secretsFromEnvironment({ [variable]: 'one' })(source)).toBe('one');
  });

  const secrets = secretsFromEnvironment({
    SVC_WEBHOOK_SECRET_MY_CI: 'one',
    SVC_WEBHOOK_SECRET_EMPTY: '',
    SVC_WEBHOOK_SECRET_HTTP_API: 'two',
    SVC_WEBHOOK_SECRET_: 'three',
    PATH: 'four',
    SVC_WEBHOOK_SECRET_UNSET: undefined,
  });

  it.each([
    ['STIM-24 that has none', 'other'],
    ['AMB-044 whose secret is empty', 'empty'],
    ['whose variable is there without a value', 'unset'],
    ['AMB-043 in capitals', 'MY-CI'],
    ['AMB-043 with an underscore, though a variable would fit', 'my_ci'],
    ['AMB-043 that only stimuli can have', 'http_api'],
    ['AMB-043 that is empty', ''],
    ['that means a prototype', '__proto__'],
    ['that every object inherits', 'constructor'],
    ['that names another variable', '../path'],
  ])('knows no secret of a source %s', (_title, source) => {
    expect(secrets(source)).toBeUndefined();
  });
});

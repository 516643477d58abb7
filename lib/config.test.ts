import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { type ConfigError, parseConfig } from './config.ts';

const schema = Type.Object({
  WINDLASS_NAMESPACE: Type.String({ pattern: '^[a-z-]+$' }),
  WINDLASS_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8080 }),
  WINDLASS_LEVEL: Type.Optional(Type.Unsafe<'info' | 'debug'>({ type: 'string', enum: ['info', 'debug'] })),
  WINDLASS_STRICT: Type.Boolean({ default: false }),
  WINDLASS_RATIO: Type.Optional(Type.Number()),
});

describe('parseConfig', () => {
  it('reads every type, fills in defaults, ignores what it does not know, and freezes', () => {
    const config = parseConfig(schema, {
      WINDLASS_NAMESPACE: 'windlass-system',
      WINDLASS_STRICT: 'true',
      WINDLASS_RATIO: '0.5',
      WINDLASS_LEVEL: '',
      PATH: '/bin',
    });
    expect(config).toEqual({
      WINDLASS_NAMESPACE: 'windlass-system',
      WINDLASS_PORT: 8080,
      WINDLASS_STRICT: true,
      WINDLASS_RATIO: 0.5,
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('lists every problem at once and no value', () => {
    const secret = 'hunter2';
    let error: ConfigError | undefined;
    try {
      parseConfig(schema, {
        WINDLASS_PORT: secret,
        WINDLASS_LEVEL: secret,
        WINDLASS_STRICT: secret,
        WINDLASS_RATIO: '1e9',
      });
    } catch (caught) {
      error = caught as ConfigError;
    }
    expect(error?.problems.map(({ name }) => name)).toEqual([
      'WINDLASS_NAMESPACE',
      'WINDLASS_PORT',
      'WINDLASS_LEVEL',
      'WINDLASS_STRICT',
      'WINDLASS_RATIO',
    ]);
    expect(error?.message).toContain('WINDLASS_NAMESPACE: is not set; it must be text that matches ^[a-z-]+$');
    expect(error?.message).toContain('WINDLASS_LEVEL: must be one of info, debug');
    expect(error?.message).not.toContain(secret);
  });

  it.each([
    ['0', false],
    ['1', true],
    ['65535', true],
    ['65536', false],
    ['80.5', false],
    ['0x50', false],
    [' 80', false],
  ])('the port %j is accepted: %s', (port, accepted) => {
    const parse = () => parseConfig(schema, { WINDLASS_NAMESPACE: 'a', WINDLASS_PORT: port });
    let problems: readonly object[] = [];
    try {
      parse();
    } catch (error) {
      problems = (error as ConfigError).problems;
    }
    expect(problems).toEqual(
      accepted ? [] : [{ name: 'WINDLASS_PORT', problem: 'must be a whole number, at least 1 and at most 65535' }],
    );
  });
});

import { describe, expect, it } from 'vitest';
import { createLogger, type LogLevel, redactedFields } from './logger.ts';

function capture(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const logger = createLogger({
    level,
    service: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  return {
    logger,
    parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    text: () => lines.join(''),
  };
}

describe('a log line', () => {
  it('is JSON with level, time, service, fields and a constant message', () => {
    const { logger, parsed } = capture();
    logger.child({ reconcileId: 'r1' }).info({ name: 'x' }, 'state entered');
    expect(parsed()).toMatchObject([
      { level: 'info', service: 'test', reconcileId: 'r1', name: 'x', msg: 'state entered' },
    ]);
    expect(new Date(String(parsed()[0]?.time)).getFullYear()).toBeGreaterThan(2025);
  });

  it('an error keeps its type, its message and what caused it', () => {
    const { logger, text } = capture();
    logger.error({ err: new Error('outer', { cause: new RangeError('inner') }) }, 'reconcile failed');
    expect(text()).toContain('outer');
    expect(text()).toContain('inner');
    expect(text()).toContain('RangeError');
  });

  it.each(redactedFields)('the field %s never shows its value, nor one level down', (field) => {
    const { logger, text } = capture();
    logger.info({ [field]: 'hunter2', request: { [field]: 'hunter2' } }, 'x');
    logger.child({ [field]: 'hunter2' }).info({}, 'x');
    expect(text()).not.toContain('hunter2');
  });

  it('below the level is not written', () => {
    const { logger, parsed } = capture('warn');
    logger.info({}, 'x');
    logger.warn({}, 'y');
    expect(parsed().map(({ msg }) => msg)).toEqual(['y']);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { AppError } from '../../../lib/errors.ts';
import { createLogger } from '../../../lib/logger.ts';
import { createManualClock, type ManualClock } from '../../../test/support/manual-clock.ts';
import { underPresentContext } from './context-return.ts';

const gone = new AppError('not_found', 'there is no SecurityContext desk', { reason: 'SecurityContextNotFound' });

let clock: ManualClock;
let lines: Record<string, unknown>[];
let isThere: boolean;
beforeEach(() => {
  clock = createManualClock();
  lines = [];
  isThere = false;
});

/** The answer of a read, once there is one. */
function begin(error: Error = gone): { readonly outcome: unknown } {
  const state: { outcome: unknown } = { outcome: undefined };
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const logger = createLogger({ level: 'info', service: 'test', destination });
  const read = async () => {
    if (!isThere) throw error;
    return 'read';
  };
  void underPresentContext({ clock, logger, signal: new AbortController().signal }, read).then(
    (value) => (state.outcome = value),
    (thrown: unknown) => (state.outcome = thrown),
  );
  return state;
}

describe('a SecurityContext that is gone', () => {
  it('and comes back within ten seconds ends nothing', async () => {
    const read = begin();
    await clock.advance(9_000);
    expect(read.outcome).toBeUndefined();
    isThere = true;
    await clock.advance(1_000);
    expect(read.outcome).toBe('read');
  });

  it('and stays so ends the wait after ten seconds with the reason', async () => {
    const read = begin();
    await clock.advance(9_999);
    expect(read.outcome).toBeUndefined();
    await clock.advance(1_001);
    expect(read.outcome).toBe(gone);
  });

  it('is named in one line of the log', async () => {
    begin();
    await clock.advance(11_000);
    expect(lines).toMatchObject([
      { level: 'warn', problem: gone.message, msg: 'conversation makes no call until its security context is back' },
    ]);
  });
});

it('an error of another reason is not waited for', async () => {
  const lost = new AppError('not_found', 'the version is gone', { reason: 'DefinitionLost' });
  const read = begin(lost);
  await clock.advance(0);
  expect(read.outcome).toBe(lost);
  expect(lines).toEqual([]);
});

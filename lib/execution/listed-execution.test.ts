import { describe, expect, it } from 'vitest';
import { after, anExecution } from '../../test/builders/execution-builder.ts';
import { listedExecution } from './listed-execution.ts';

const asks = (prompt: string, more = {}) =>
  anExecution()
    .now({ state: 'ask', kind: 'Human', prompt, ...more })
    .build();
const ref = { path: '', ref: 'a'.repeat(64), bytes: 40_000, encoding: 'text' as const };

describe('what the API keeps of an execution for its lists', () => {
  it.each<[title: string, prompt: string, want: string, bytes?: number]>([
    ['all of 1,024 characters', 'x'.repeat(1_024), 'x'.repeat(1_024)],
    ['1,024 of one more, and the size', 'x'.repeat(1_025), `${'x'.repeat(1_024)}…`, 1_025],
    ['1,024 wide ones of many, and the size', 'あ'.repeat(8_192), `${'あ'.repeat(1_024)}…`, 24_576],
    ['no half of a character', `${'x'.repeat(1_023)}\u{1f600}!`, `${'x'.repeat(1_023)}…`, 1_028],
  ])('has of a prompt %s', (_title, prompt, want, bytes) => {
    const current = listedExecution(asks(prompt)).status?.current;
    expect([current?.prompt, current?.prompt_ref?.bytes]).toEqual([want, bytes]);
  });

  it.each([
    ['x', 'x'],
    ['x'.repeat(8_192), `${'x'.repeat(1_024)}…`],
  ])('has the size of a prompt in the output store, of which the status shows %s', (prompt, want) => {
    expect(listedExecution(asks(prompt, { prompt_ref: ref })).status?.current).toMatchObject({
      prompt: want,
      prompt_ref: ref,
    });
  });

  it('is what a list shows, and whether it asks', () => {
    const parent = { name: 'p', uid: 'u', state: 's', visit: 1, depth: 1 };
    const execution = anExecution()
      .with({ version: '1.0.0', parent, ttl_seconds_after_finished: 5 })
      .status({ reason: 'Waits', message: 'waits', successors: [{ name: 'again', uid: 'u1' }], transitions: 3 })
      .now({ state: 'ask', kind: 'Human', prompt: 'Go?', deadline: after(60), answers: ['yes'] })
      .build();
    const { metadata, spec, status } = listedExecution(execution);
    expect(metadata).toEqual(execution.metadata);
    expect(spec).toEqual({ workflow: 'demo', version: '1.0.0' });
    const { phase, reason, message, workflow, state, transitions, started_at } = execution.status ?? {};
    const current = { state: 'ask', kind: 'Human', visit: 1, entered_at: after(1), deadline: after(60), prompt: 'Go?' };
    expect(status).toEqual({ phase, reason, message, workflow, state, transitions, started_at, current });
  });

  it('takes one that has not begun', () => {
    expect(listedExecution(anExecution().build())).not.toHaveProperty('status');
  });
});

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createProcessRuntime } from './process-runtime.ts';

function setUp(graceMs?: number) {
  const clock = createManualClock();
  const exits: number[] = [];
  const emitter = new EventEmitter();
  const process = Object.assign(emitter, { exit: (code: number) => void exits.push(code) });
  return {
    runtime: createProcessRuntime({ process, clock, logger: silentLogger, ...(graceMs !== undefined && { graceMs }) }),
    emitter,
    exits,
    clock,
  };
}

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'])('%s begins a stop, a second signal ends the process', (signal) => {
    const { runtime, emitter, exits } = setUp();
    expect(runtime.stop.aborted).toBe(false);
    emitter.emit(signal);
    expect([runtime.stop.aborted, exits]).toEqual([true, []]);
    emitter.emit('SIGTERM');
    expect(exits).toEqual([1]);
  });

  it('what still runs after 20 s is given up, and after 25 s the process ends', async () => {
    const { runtime, clock, exits } = setUp();
    runtime.requestStop('test');
    runtime.requestStop('again');
    await clock.advance(19_999);
    expect(runtime.abandon.aborted).toBe(false);
    await clock.advance(1);
    expect(runtime.abandon.aborted).toBe(true);
    await clock.advance(4_999);
    expect(exits).toEqual([]);
    await clock.advance(1);
    expect(exits).toEqual([1]);
  });

  it('gives work as long as its setting says, and answers about the rest 2 s more', async () => {
    const { runtime, clock, exits } = setUp(320_000);
    runtime.requestStop('test');
    await clock.advance(319_999);
    expect(runtime.abandon.aborted).toBe(false);
    await clock.advance(1);
    expect([runtime.abandon.aborted, runtime.breakOff.aborted]).toEqual([true, false]);
    await clock.advance(2_000);
    expect([runtime.breakOff.aborted, exits]).toEqual([true, []]);
    await clock.advance(3_000);
    expect(exits).toEqual([1]);
  });

  it.each(['uncaughtException', 'unhandledRejection'])('%s ends the process with code 1', (event) => {
    const { emitter, exits } = setUp();
    emitter.emit(event, new Error('boom'));
    expect(exits).toEqual([1]);
  });
});

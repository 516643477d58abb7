import { expect, it } from 'vitest';
import { countTurns } from '../../test/support/count-turns.ts';
import { relayStops } from '../explained.ts';
import { endedPerTurn, endInTurns } from './end-in-turns.ts';

it('ends many streams in turns of the event loop, and none that begins meanwhile', async () => {
  const ended: number[] = [];
  const open = new Set<{ end: () => void }>();
  const late = { end: () => ended.push(-1) };
  for (let at = 0; at < 10 * endedPerTurn; at += 1) open.add({ end: () => (open.add(late), ended.push(at)) });
  const turns = await countTurns(() => endInTurns(open, relayStops()));
  expect(ended).toEqual(Array.from({ length: 10 * endedPerTurn }, (_, at) => at));
  expect(turns).toBeGreaterThanOrEqual(9);
});

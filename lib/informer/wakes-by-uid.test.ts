import { expect, it } from 'vitest';
import type { InformerChange } from './informer.ts';
import { createWakesByUid } from './wakes-by-uid.ts';

interface Thing {
  readonly metadata: { readonly uid: string };
}

it('a change of an object wakes each that waits for it, also where it is gone, and none that waits for another', async () => {
  let change: (of: InformerChange<Thing>) => void = () => undefined;
  const wakes = createWakesByUid<Thing>({ onChange: (call) => void (change = call) });
  const woken: string[] = [];
  const stop = new AbortController();
  const wait = (uid: string, name: string) => wakes.changed(uid, stop.signal).then(() => woken.push(name));
  const waiting = [wait('a', 'first'), wait('a', 'second')];
  const other = wait('b', 'other');
  const forget = wakes.onChange('a', () => woken.push('called'));
  change({ before: { metadata: { uid: 'a' } }, after: undefined } as InformerChange<Thing>);
  await Promise.all(waiting);
  expect(woken).toEqual(['called', 'first', 'second']);
  forget();
  change({ before: undefined, after: { metadata: { uid: 'a' } } } as InformerChange<Thing>);
  stop.abort();
  await other;
  await wakes.changed('a', stop.signal);
  expect(woken).toEqual(['called', 'first', 'second', 'other']);
});

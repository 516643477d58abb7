import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createTerminal } from './node-terminal.ts';

const terminalOn = (stdout: Writable) =>
  createTerminal({ stdout: stdout as NodeJS.WriteStream, stderr: new PassThrough() as never, env: {} });

it('bytes wait for a slow reader', async () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const terminal = terminalOn(stream);
  let isTaken = false;
  const writing = terminal.bytes(Buffer.from('ab'), 'stdout').then(() => terminal.bytes(Buffer.from('cd'), 'stdout'));
  void writing.then(() => (isTaken = true));
  await new Promise(setImmediate);
  expect(isTaken).toBe(false);
  stream.resume();
  await writing;
});

it('bytes wait for no reader that has gone away', async () => {
  const stream = new Writable({ highWaterMark: 1, write: () => undefined });
  const writing = terminalOn(stream).bytes(Buffer.from('more than there is room for'), 'stdout');
  stream.destroy();
  await Promise.all([writing, once(stream, 'close')]);
  expect(stream.destroyed).toBe(true);
});

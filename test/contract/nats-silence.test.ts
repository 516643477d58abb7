import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startNatsServer } from '../nats/nats-server.ts';

const template = resolve(import.meta.dirname, '../../charts/windlass/templates/nats/_config.tpl');

it('the NATS server of the chart gives up a connection that answers no ping', async () => {
  const timers = (await readFile(template, 'utf8')).match(/^(ping_interval|ping_max|write_deadline): .+$/gm) ?? [];
  expect(timers).toHaveLength(3);
  const folder = await mkdtemp(join(tmpdir(), 'windlass-nats-config-'));
  const file = join(folder, 'nats.conf');
  await writeFile(file, timers.join('\n'));
  const server = await startNatsServer({ args: ['--config', file] });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += String(chunk)));
  // A process that was frozen behind its subscription.
  socket.write('CONNECT {"verbose":false}\r\nPING\r\nSUB frozen 1\r\n');
  await once(socket, 'end');
  expect(text).toMatch(/-ERR 'Stale Connection'/);
  socket.destroy();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

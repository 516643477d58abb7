/**
 * The baseline of signed invocations. It is a Koa application that verifies one Ed25519 signature, creates one key in a
 * bucket of NATS and publishes one message to a stream of it. It waits for both. With an upstream it then asks that one
 * and hands on the answer.
 */
import { createPublicKey, hash, verify } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect } from '@nats-io/transport-node';
import Koa from 'koa';
import { Pool } from 'undici';

/** Settings from the parent, as JSON in the first argument. */
interface Setup {
  readonly natsUrl: string;
  /** SubjectPublicKeyInfo PEM of the caller. */
  readonly callerKey: string;
  readonly upstream?: string;
}

const setup = JSON.parse(process.argv[2] ?? '{}') as Setup;
const key = createPublicKey(setup.callerKey);
const nats = await connect({ servers: setup.natsUrl });
await (await jetstreamManager(nats)).streams.add({ name: 'bare', subjects: ['bare.>'] });
const calls = await new Kvm(nats).create('bare_calls', { ttl: 120_000 });
const events = jetstream(nats);
const upstream = setup.upstream === undefined ? undefined : new Pool(setup.upstream, { connections: 64 });

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const app = new Koa();
app.use(async (ctx) => {
  const { payload, security_token, signature, timestamp } = JSON.parse(String(await bytesOf(ctx.req))) as Record<
    string,
    unknown
  >;
  const signed = Buffer.from(JSON.stringify({ payload, security_token, timestamp }));
  if (!verify(null, signed, key, Buffer.from(String(signature), 'base64'))) return void (ctx.status = 401);
  await calls.create(hash('sha256', signed), '');
  await events.publish('bare.calls', JSON.stringify({ type: 'called', at: Date.now() }));
  if (upstream === undefined) return void (ctx.body = { jsonrpc: '2.0', id: 1, result: {} });
  const answer = await upstream.request({ path: '/orders/7', method: 'GET' });
  ctx.body = { jsonrpc: '2.0', id: 1, result: await answer.body.json() };
});

process.on('disconnect', () => process.exit(0));
const server = app.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

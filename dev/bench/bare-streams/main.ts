/** The baseline of the relay: a bare grpc-js server that holds streams, and passes messages of NATS on to them and back. */
import { createServer } from 'node:http';
import process from 'node:process';
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { connect, type Msg } from '@nats-io/transport-node';
import { bareSubject, type BareSetup } from '../edge/bare-setup.ts';

type Stream = ServerDuplexStream<Buffer, Buffer>;

const setup = JSON.parse(process.argv[2] ?? '{}') as BareSetup;
const open = new Map<string, Stream>();
/** The question of each host that has not been answered. */
const asked = new Map<string, Msg>();

const same = (bytes: Buffer): Buffer => bytes;
const path = '/windlass.node.v1.NodeClusterService/ConnectEdge';
const codec = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };

/** The last part of the credential is the number of the host. */
const hostOf = (call: Stream): string => String(call.metadata.get('authorization')[0]).split('.').at(-1) ?? '';

function serve(call: Stream): void {
  const host = hostOf(call);
  let isGreeted = false;
  call.on('error', () => undefined);
  call.on('data', (bytes: Buffer) => {
    if (!isGreeted) {
      isGreeted = true;
      open.set(host, call);
      return;
    }
    const question = asked.get(host);
    if (question === undefined) return;
    asked.delete(host);
    question.respond(bytes);
  });
  call.on('cancelled', () => open.get(host) === call && open.delete(host));
  call.on('end', () => call.end());
}

const nats = await connect({ servers: setup.natsUrl });
nats.subscribe(`${bareSubject}.*`, {
  callback(_, message) {
    const host = message.subject.slice(bareSubject.length + 1);
    asked.set(host, message);
    open.get(host)?.write(Buffer.from(message.data));
  },
});

const server = new Server();
server.addService(
  { connectEdge: { path, requestStream: true, responseStream: true, ...codec } },
  { connectEdge: (call: Stream) => serve(call) },
);
await new Promise<void>((resolve, reject) => {
  server.bindAsync(`127.0.0.1:${setup.port}`, ServerCredentials.createInsecure(), (error) =>
    error === null ? resolve() : reject(error),
  );
});
createServer((_, response) => response.end(`windlass_relay_hosts{state="Connected"} ${open.size}\n`)).listen(
  setup.pagesPort,
  '127.0.0.1',
);
process.on('SIGTERM', () => process.exit(0));

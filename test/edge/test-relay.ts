import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import {
  type CommandFacts,
  type EdgeEventCase,
  isSealedBy,
  mintCommandToken,
  readEdgeEvent,
  readNodeToken,
  sealEdgeCommand,
} from '../../lib/edge/index.ts';
import type { EdgeCommand, EdgeResult } from '../../proto/generated/windlass/node/v1/node.ts';
import { type Answer, type Call, createHostIdentity } from './host-identity.ts';

type Command = NonNullable<EdgeCommand['command']>;

/** A server of the protocol for tests of daemons: one tenant, hosts in memory, every event kept. It checks each envelope. */
export interface TestRelay {
  readonly port: number;
  readonly edgeKey: KeyObject;
  readonly events: EdgeEventCase[];
  readonly streams: number;
  /** Keys of the host in order; the last one counts. */
  readonly keys: KeyObject[];
  /** Tokens in the envelopes of the events, in order. */
  readonly tokens: readonly string[];
  /** Faults of messages of the daemon. */
  readonly problems: readonly string[];
  /** Whether results are acknowledged as they come. */
  acknowledges: boolean;
  /** Whether the next rotation counts and its answer is lost. */
  losesRotation: boolean;
  /** A rotation waits for it before it is judged. */
  rotationMayEnd: Promise<void> | undefined;
  /** Calls of RotateEdgeKey. */
  readonly rotations: number;
  readonly nodeId: string;
  send(
    command: Command | undefined,
    options?: {
      readonly acks?: readonly string[];
      readonly key?: KeyObject;
      readonly raw?: (bytes: Uint8Array) => Uint8Array;
    },
  ): void;
  /** A proven command, with parts replaced. */
  invoke(
    facts: Partial<CommandFacts> & { readonly tool: string; readonly args: object },
    options?: InvokeOptions,
  ): Promise<string>;
  /** Ends the stream as a server that shuts down. */
  drop(code?: status, reason?: string): void;
  results(commandId: string): EdgeResult[];
  output(commandId: string): string;
  /** Resolves when the condition holds. */
  until(condition: () => boolean, ms?: number): Promise<void>;
  close(): void;
}

interface InvokeOptions {
  readonly edgeKey?: KeyObject;
  /** Arguments that are sent instead of those that the token is for. */
  readonly sentArgs?: object;
  readonly sentTool?: string;
  readonly sentContext?: string;
  readonly tenant?: string;
  readonly withoutEnvelope?: boolean;
}

const path = (name: string) => `/windlass.node.v1.NodeClusterService/${name}`;
const method = (name: string, isStream: boolean) => ({
  path: path(name),
  requestStream: isStream,
  responseStream: isStream,
  requestSerialize: (value: Buffer) => value,
  requestDeserialize: (value: Buffer) => value,
  responseSerialize: (value: Uint8Array) => Buffer.from(value),
  responseDeserialize: (value: Buffer) => value,
});
type Stream = ServerDuplexStream<Buffer, Uint8Array>;

export async function startTestRelay(
  options: {
    readonly tokenLifeMs?: number;
    readonly heartbeatMs?: number;
    /** PEM; without it the server speaks plain text. */
    readonly tls?: { readonly key: string; readonly cert: string };
  } = {},
): Promise<TestRelay> {
  const relay = generateKeyPairSync('ed25519');
  const edge = generateKeyPairSync('ed25519');
  const nodeId = randomUUID();
  const { tokenLifeMs = 86_400_000, heartbeatMs = 30_000 } = options;
  const whose = { relay, commandKey: edge.publicKey, nodeId };
  const identity = createHostIdentity(whose, { tokenLifeMs, heartbeatMs }, () => self);
  const { keys } = identity;
  const events: EdgeEventCase[] = [];
  const tokens: string[] = [];
  const problems: string[] = [];
  let streams = 0;
  let stream: Stream | undefined;
  let streamId = '';
  let sequence = 0n;

  function take(bytes: Buffer, after: { sequence: bigint; count: number }): void {
    const { event, sealed } = readEdgeEvent(bytes);
    if (event.$case === 'hello') streamId = event.value.streamId;
    if ((after.count === 0) !== (event.$case === 'hello'))
      problems.push('Hello is not the first message, or not the only one');
    after.count += 1;
    if (!keys.some((key) => isSealedBy(key, sealed, streamId))) problems.push(`signature of ${event.$case}`);
    if (sealed.envelope.sequence <= after.sequence) problems.push('sequence');
    if (sealed.envelope.nodeId !== nodeId) problems.push('node id');
    after.sequence = sealed.envelope.sequence;
    tokens.push(sealed.envelope.securityToken);
    events.push(event);
    if (event.$case === 'commandResult' && self.acknowledges) self.send(undefined, { acks: [event.value.commandId] });
  }

  async function connect(call: Stream): Promise<void> {
    const [bearer = ''] = call.metadata.get('authorization');
    const claims = await readNodeToken(
      createPublicKey(relay.privateKey),
      String(bearer).replace('Bearer ', ''),
      Date.now(),
    );
    if (claims?.nodeId !== nodeId) return void call.emit('error', { code: status.UNAUTHENTICATED, details: 'token' });
    streams += 1;
    stream = call;
    sequence = 0n;
    const after = { sequence: 0n, count: 0 };
    call.on('error', () => undefined);
    call.on('data', (bytes: Buffer) => {
      try {
        take(bytes, after);
      } catch (error) {
        problems.push(String(error));
      }
    });
    call.on('end', () => call.end());
  }

  const server = new Server();
  server.addService(
    {
      attestNode: method('AttestNode', false),
      challengeNode: method('ChallengeNode', false),
      rotateEdgeKey: method('RotateEdgeKey', false),
      connectEdge: method('ConnectEdge', true),
    },
    {
      attestNode: (call: Call, answer: Answer) => void identity.attest(call, answer),
      challengeNode: (call: Call, answer: Answer) => void identity.challenge(call, answer),
      rotateEdgeKey: (call: Call, answer: Answer) => void identity.rotate(call, answer),
      connectEdge: (call: Stream) => void connect(call),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentialsOf(options.tls), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });

  const self: TestRelay = {
    port,
    edgeKey: edge.privateKey,
    events,
    keys,
    tokens,
    problems,
    nodeId,
    acknowledges: true,
    losesRotation: false,
    rotationMayEnd: undefined,
    get rotations() {
      return identity.rotations;
    },
    get streams() {
      return streams;
    },
    send(command, { acks, key = relay.privateKey, raw = (bytes: Uint8Array) => bytes } = {}) {
      sequence += 1n;
      const resultAck = acks === undefined ? undefined : { commandIds: [...acks] };
      const bytes = sealEdgeCommand({ command, resultAck }, { key, nodeId, streamId, sequence, now: Date.now() });
      stream?.write(raw(bytes));
    },
    async invoke(
      facts,
      { edgeKey = edge.privateKey, sentArgs, sentTool, sentContext, tenant = 'acme', withoutEnvelope } = {},
    ) {
      const commandId = facts.commandId ?? randomUUID();
      const whole = {
        author: 'ada',
        tid: 'acme',
        node: nodeId,
        context: 'default',
        deadlineSeconds: 20,
        now: Date.now(),
        lifeMs: 60_000,
        ...facts,
        commandId,
      };
      const userSecurityToken = await mintCommandToken(edgeKey, whole);
      self.send({
        $case: 'invokeTool',
        value: {
          commandId,
          securityContextName: sentContext ?? whole.context,
          sealEnvelope: withoutEnvelope ? undefined : { userSecurityToken, tenantId: tenant },
          toolName: sentTool ?? facts.tool,
          args: { ...(sentArgs ?? facts.args) },
          deadline: undefined,
        },
      });
      return commandId;
    },
    drop(code = status.UNAVAILABLE, reason) {
      const metadata = new Metadata();
      if (reason !== undefined) metadata.set('windlass-reason', reason);
      stream?.emit('error', { code, details: 'the server shuts down', metadata });
    },
    results: (commandId) =>
      events.flatMap((event) =>
        event.$case === 'commandResult' && event.value.commandId === commandId && event.value.result
          ? [event.value.result]
          : [],
      ),
    output: (commandId) =>
      events
        .flatMap((event) => {
          if (event.$case !== 'commandProgress' || event.value.commandId !== commandId) return [];
          const kind = event.value.chunk?.kind;
          return kind?.$case === 'stdout' || kind?.$case === 'stderr' ? [Buffer.from(kind.value).toString()] : [];
        })
        .join(''),
    async until(condition, ms = 60_000) {
      const end = performance.now() + ms;
      while (!condition()) {
        if (performance.now() > end)
          throw new Error(
            `not in time: ${condition.toString()}; events: ${JSON.stringify(events.map(({ $case }) => $case))}; ${problems.join()}`,
          );
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    close: () => server.forceShutdown(),
  };
  return self;
}

function credentialsOf(tls: { readonly key: string; readonly cert: string } | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  return ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }]);
}

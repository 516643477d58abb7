import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import {
  type CommandRecord,
  createEdgeResults,
  type EdgeOutcome,
  edgeBuckets,
  type HeldStream,
  type HostRequest,
  relayAddress,
} from '../../lib/edge/index.ts';
import { AppError } from '../../lib/errors.ts';

export type Invoke = Extract<HostRequest, { readonly kind: 'invoke' }>;
/** A host's answer to a command; undefined: it answers nothing. */
export type Answer = (request: Invoke, node: string) => Promise<EdgeOutcome | undefined>;

/** A relay as the controllers meet it: it holds streams, takes requests, and publishes results. */
export class RelayPeer {
  readonly got: HostRequest[] = [];
  most = 0;
  #open = 0;
  readonly #bus: EventBus;
  readonly #epochs = new Map<string, number>();
  readonly #name: string;
  readonly #results: ReturnType<typeof createEdgeResults>;

  constructor(bus: EventBus, name: string, answer: Answer) {
    this.#bus = bus;
    this.#name = name;
    this.#results = createEdgeResults({ bus, clock: systemClock });
    this.ready = this.#bus.serve(relayAddress(name), async ({ body }) => {
      const request = JSON.parse(Buffer.from(body).toString('utf8')) as HostRequest;
      if (this.#epochs.get(request.host.hostUid) !== request.epoch) throw new AppError('unavailable', 'elsewhere');
      this.got.push(request);
      if (request.kind !== 'invoke') return '';
      this.most = Math.max(this.most, (this.#open += 1));
      void answer(request, request.host.nodeId).then(async (result) => {
        if (result === undefined) return;
        this.#open -= 1;
        const { tenant, nodeId } = request.host;
        const ids = { tenant, run: request.command.run, node_id: nodeId, command_id: request.command.commandId };
        const at = new Date().toISOString();
        const data = Buffer.from(`out of ${nodeId}`).toString('base64');
        await this.#results.publish({ ...ids, at, kind: 'progress', chunk: { stream: 'stdout', data } });
        await this.say(request, result);
      });
      return '';
    }).ready;
  }

  readonly ready: Promise<void>;

  /** Has the streams of these hosts from now on. */
  async hold(hosts: readonly EdgeHost[]): Promise<void> {
    const streams = this.#bus.bucket<HeldStream>(edgeBuckets.streams);
    const rest = hosts.values();
    const lanes = Array.from({ length: 64 }, async () => {
      for (const { metadata } of rest) {
        const uid = metadata.uid ?? '';
        const revision = await streams.create(uid, { uid, relay: this.#name, at: new Date().toISOString() }, 'acme');
        this.#epochs.set(uid, revision ?? 0);
      }
    });
    await Promise.all(lanes);
  }

  /** Publishes the result of a command, and notes in its record that it has ended, as a relay does. */
  async say({ host, command, claim }: Invoke, result: EdgeOutcome): Promise<void> {
    const ids = { tenant: host.tenant, run: command.run, node_id: host.nodeId, command_id: command.commandId };
    await this.#results.publish({ ...ids, kind: 'result', at: new Date().toISOString(), result });
    const commands = this.#bus.bucket<CommandRecord>(edgeBuckets.commands);
    if (claim !== undefined) commands.note(command.commandId, { ...claim.record, ended: true }, claim.revision);
  }

  get invokes(): Invoke[] {
    return this.got.flatMap((request) => (request.kind === 'invoke' ? [request] : []));
  }

  get invoked(): string[] {
    return this.invokes.map(({ host }) => host.nodeId);
  }

  get cancels(): number {
    return this.got.filter(({ kind }) => kind === 'cancel').length;
  }
}

let made = 0;

/** Connected hosts of the tenant acme; no other call gives the same uids. Those with an even number have the tag `even`. */
export function hostsNamed(count: number): EdgeHost[] {
  made += 1;
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: 'windlass.dev/v1',
    kind: 'EdgeHost',
    metadata: { name: `host-${index}`, namespace: 'tenant-acme', uid: `h${made}-${index}` },
    spec: { tags: index % 2 === 0 ? ['even'] : [] },
    status: {
      node_id: `n${String(index).padStart(5, '0')}`,
      status: 'Connected',
      since: '2026-01-01T00:00:00Z',
      enrolled_at: '2026-01-01T00:00:00Z',
      keys: { current: 'x'.repeat(44) },
      token_jti: 'j',
    },
  }));
}

/** A relay of its own that holds the streams of these hosts. */
export async function startRelayPeer(bus: EventBus, hosts: readonly EdgeHost[], answer: Answer): Promise<RelayPeer> {
  made += 1;
  const peer = new RelayPeer(bus, `relay-${made}`, answer);
  await peer.ready;
  await peer.hold(hosts);
  return peer;
}

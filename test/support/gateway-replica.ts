import { expect } from 'vitest';
import { readGatewayConfig } from '../../gateway/config.ts';
import { runGateway } from '../../gateway/run-gateway.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Environment } from '../../lib/config.ts';
import { newId } from '../../lib/ids.ts';
import { createCredentialSource, createKubeClient, type KubeObject } from '../../lib/kube/index.ts';
import { createLogger } from '../../lib/logger.ts';
import { createOpenApiReader } from '../../lib/manifest/index.ts';
import { createServerMetrics } from '../../lib/process/server-metrics.ts';
import { answerJson, type HttpPeer, startHttpPeer } from './http-peer.ts';

/** A whole replica as its process runs it, on a port of its own. */
export interface GatewayReplica {
  readonly url: string;
  close(): Promise<void>;
}

interface ReplicaOptions {
  /** Address of NATS. */
  readonly nats: string;
  /** The address of the MCP server `notes`. */
  readonly notes: string;
  /** How long a call of it may take. */
  readonly notesSeconds?: number;
  /** Lists of Kubernetes (`startLists`). */
  readonly lists: HttpPeer;
  readonly env: Environment;
}

const local = { allow_internal_addresses: ['127.0.0.0/8'], capabilities: [] };

export async function startGatewayReplica({
  nats,
  notes,
  notesSeconds = 20,
  lists,
  env,
}: ReplicaOptions): Promise<GatewayReplica> {
  const stop = new AbortController();
  const { promise: port, resolve: serving, reject } = Promise.withResolvers<number>();
  const write = (line: string): void => {
    const entry = JSON.parse(line) as { readonly msg: string; readonly port: number };
    if (entry.msg === 'serving') serving(entry.port);
  };
  const credentials = createCredentialSource(async () => ({ server: lists.url, tls: {}, headers: {} }), systemClock);
  const kube = createKubeClient({ credentials, clock: systemClock });
  const workerUrl = new URL('../../lib/manifest/manifest-worker.ts', import.meta.url);
  const openApi = createOpenApiReader({ clock: systemClock, workerUrl });
  const running = runGateway({
    config: readGatewayConfig({
      WINDLASS_NATS_URL: nats,
      WINDLASS_HTTP_HOST: '127.0.0.1',
      WINDLASS_DRAIN_SECONDS: '0',
      SEAL_GATEWAY_PORT: '0',
      SEAL_GATEWAY_INTERNAL_PORT: '0',
      ...env,
    }),
    logger: createLogger({ level: 'info', service: 'gateway', destination: { write } }),
    metrics: createServerMetrics(),
    clock: systemClock,
    kube,
    runtime: { stop: stop.signal, abandon: stop.signal, breakOff: stop.signal, requestStop: () => stop.abort() },
    newId,
    outputs: () => async () => new Uint8Array(),
    openApi,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    readDocsScript: async () => '',
    readFile: () => '',
    nodeConfig: { mcp_servers: [{ name: 'notes', url: notes, ...local, timeout_secs: notesSeconds }] },
    onLoaded: () => undefined,
  });
  running.catch(reject);
  return {
    url: `http://127.0.0.1:${await port}`,
    async close() {
      stop.abort();
      expect(await running).toBe(0);
      await openApi.close();
      await kube.close();
    },
  };
}

/** Lists of Kubernetes with these objects, by the plural of their kind, and watches that report nothing. */
export function startLists(objects: Readonly<Record<string, readonly KubeObject[]>> = {}): Promise<HttpPeer> {
  return startHttpPeer(({ path, query }, response) => {
    if (query.has('watch')) return response.writeHead(200).flushHeaders();
    const parts = path.split('/');
    const list = objects[parts.at(-1) ?? ''];
    const one = objects[parts.at(-2) ?? '']?.find(({ metadata }) => metadata.name === parts.at(-1));
    if (list === undefined && one !== undefined) return answerJson(response, 200, one);
    answerJson(response, 200, { metadata: { resourceVersion: '1' }, items: list ?? [] });
  });
}

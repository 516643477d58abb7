import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { GatewayClient } from '../../../client/index.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';
import type { BenchCluster } from '../bench-cluster.ts';
import { type BenchGateway, startBenchGateway } from '../gateway.ts';
import { peakMiB, residentMiB } from '../machine.ts';
import type { Program, Sample } from '../program.ts';

/** How large the measurement is. */
interface GatewayLoad {
  readonly sessions: number;
  readonly specs: number;
  /** Bytes of each document. */
  readonly documentBytes: number;
}

const full: GatewayLoad = { sessions: 10_000, specs: 1_000, documentBytes: 200 * 1024 };

const inFlight = 16;
/** The process is given this time to settle; it is not asked to collect garbage. */
const settlesMs = 10_000;
/** Requests with one access token: it lasts ten minutes. */
const perToken = 200;

/** An OpenAPI document of so many bytes, as generators write them: many operations with long descriptions. */
function documentOf(name: string, bytes: number): string {
  const paths: Record<string, object> = {};
  const document = {
    openapi: '3.0.3',
    info: { title: name, version: '1' },
    servers: [{ url: 'https://api.example' }],
    paths,
  };
  const operation = (index: number): object => ({
    get: {
      operationId: `read_${index}`,
      summary: `Reads item ${index} of ${name}`,
      description: 'The item with its owner, its labels, and the time of its last change. '.repeat(4),
      parameters: [{ name: 'id', in: 'query', required: true, schema: { type: 'string', maxLength: 64 } }],
      responses: { 200: { description: 'The item.', content: { 'application/json': { schema: { type: 'object' } } } } },
    },
  });
  const each = JSON.stringify(operation(1_000)).length + 16;
  const count = Math.floor((bytes - JSON.stringify(document).length) / each);
  for (let index = 0; index < count; index += 1) paths[`/items/${index}`] = operation(index);
  return JSON.stringify(document);
}

/** Does `work` for each number below `count`, some at a time, each part of them with a client of its own. */
async function each(
  gateway: BenchGateway,
  count: number,
  work: (client: GatewayClient, index: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < count; from += perToken) {
    const client = await gateway.client();
    const to = Math.min(count, from + perToken);
    let next = from;
    const worker = async (): Promise<void> => {
      while (next < to) await work(client, next++);
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
  }
}

/** Resident memory of the process that has taken them all, and of a new one that has listed them. */
async function measureGateway(
  bench: BenchCluster,
  { sessions, specs, documentBytes }: GatewayLoad,
  say: (text: string) => void,
): Promise<Sample> {
  const gateway = await startBenchGateway(bench);
  try {
    const atStart = await residentMiB(gateway.process.pid);
    await each(gateway, specs, (client, index) => {
      const name = `shop-${index}`;
      return client.registerApiSpec({ body: { name, document: documentOf(name, documentBytes) } });
    });
    say(`${specs} specs are registered`);
    await each(gateway, sessions, async (client) => {
      const { publicKey } = generateKeyPairSync('ed25519');
      return client.createSession({
        body: {
          execution_id: randomUUID(),
          agent_id: 'bench',
          security_context: 'default',
          public_key_b64: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
          security_token: await gateway.sealToken('default'),
          allowed_tool_patterns: ['shop.*'],
        },
      });
    });
    say(`${sessions} sessions are open`);
    await pause(settlesMs);
    const working = await residentMiB(gateway.process.pid);
    const peak = await peakMiB(gateway.process.pid);
    await gateway.process.stop();
    await gateway.process.start();
    await gateway.process.answers();
    await pause(settlesMs);
    const listing = await residentMiB(gateway.process.pid);
    return {
      ours: Math.max(working, listing),
      extra: {
        'MiB at the start': Math.round(atStart),
        'MiB after taking them': Math.round(working),
        'MiB at the most': Math.round(peak),
        'MiB after listing them': Math.round(listing),
      },
    };
  } finally {
    await gateway.stop();
  }
}

export const gatewayMemory: Program = {
  name: 'gateway-memory',
  title: `memory of the gateway with ${full.sessions.toLocaleString('en')} sessions and ${full.specs.toLocaleString('en')} specs of ${full.documentBytes / 1024} KB`,
  unit: 'MiB',
  bar: { of: 'ours', atMost: 200 },
  runs: 1,
  measure: (bench, say) => measureGateway(bench, full, say),
};

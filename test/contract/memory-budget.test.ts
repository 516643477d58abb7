import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { contracts as podContracts } from '../../api/routes/agent-pods/contract.ts';
import { limits } from '../../crds/limits.ts';
import { contracts as gatewayContracts } from '../../gateway/routes/specs/contract.ts';
import { envelopeLimits } from '../../lib/envelope/limits.ts';
import type { Access, Contract } from '../../lib/http/contract.ts';
import {
  bytesOf,
  cachedRows,
  largestHeapBytes,
  type MemoryName,
  type MemoryProcess,
  memoryRows,
  quotaMebibytes,
} from '../../lib/memory-budget/index.ts';
import { mcpLimits } from '../../lib/mcp/limits.ts';
import { defaultQuota } from '../../lib/tenant/tenant-manifests.ts';
import { answerLimits, chainLimitsDefault } from '../../lib/tool-chain/limits.ts';
import { largestAnswerPart, memoryOf } from '../../lib/tools/web/answer-room.ts';
import { upstreamParts } from '../../lib/tools/web/upstream-room.ts';

const project = resolve(import.meta.dirname, '../..');
const mebibyte = 1_048_576;

/** Part of a pod's memory limit that the chart gives to the heap (`node-options.test.ts`). */
const heapPart = 0.75;
/** Part of a space that pools and the process itself may fill; the rest is for what the rows cannot count. */
const fillable = 0.8;

/**
 * MiB that a process takes without what its rows count, in the heap and beside it: `docs/benchmarks.md`, the rows about
 * memory beside many executions, sessions and hosts, less 60 for V8, its code and the nursery.
 */
const base: Readonly<Record<MemoryProcess, { readonly heap: number; readonly beside: number }>> = {
  api: { heap: 90, beside: 60 },
  // Less 12 for the sessions, which have a row by now.
  gateway: { heap: 128, beside: 60 },
  relay: { heap: 210, beside: 60 },
  controllers: { heap: 160, beside: 60 },
};

/** The largest body that an operation takes. */
const contractBytes = (contracts: readonly Contract[], access: Access): number =>
  Math.max(...contracts.filter((one) => one.access === access).map(({ body }) => body?.maxBytes ?? 0));

const processes: readonly MemoryProcess[] = ['api', 'gateway', 'relay', 'controllers'];

interface Values {
  readonly resources: { readonly limits: { readonly memory: string } };
}

/** MiB that the chart lets a pod of this process have. */
function limitOf(process: MemoryProcess): number {
  const values = parse(readFileSync(resolve(project, 'charts/windlass/values.yaml'), 'utf8')) as Record<string, Values>;
  const [, number, unit] = /^(\d+)(Mi|Gi)$/.exec(values[process]?.resources.limits.memory ?? '') ?? [];
  return Number(number) * (unit === 'Gi' ? 1_024 : 1);
}

const sumOf = (process: MemoryProcess, place: 'heap' | 'beside', heapBytes: number): number =>
  memoryRows
    .filter((row) => row.place === place)
    .reduce((sum, { name, pools }) => sum + (pools[process] ?? 0) * bytesOf(name, heapBytes), 0);

describe.each(processes)('the pools of a replica with the memory of the chart: %s', (process) => {
  const limit = limitOf(process) * mebibyte;
  const heap = limit * heapPart;

  it('fit into what its heap leaves, all of them full at once', () => {
    expect(sumOf(process, 'heap', heap)).toBeLessThanOrEqual(fillable * heap - base[process].heap * mebibyte);
  });

  it('fit into what there is beside the heap', () => {
    const left = fillable * (limit - heap) - base[process].beside * mebibyte;
    expect(sumOf(process, 'beside', heap)).toBeLessThanOrEqual(left);
  });
});

/** Pools of which one tenant has half. */
const halves: ReadonlySet<MemoryName> = new Set(['values of pods', 'arguments of tool calls']);

/** A pool of heap of a process, and the share of one tenant. */
const sizesOf = (name: MemoryName, heap: number) => {
  const size = bytesOf(name, heap);
  return { size, share: size / (halves.has(name) ? 2 : 5 / 4) };
};

/** The largest object of a kind that is read in full: weighing ends there. */
const heaviestObject = 64 * mebibyte;

/** The most that a request, or a stream, takes of a pool in which it may need more than the share of its tenant. */
const largestEntries: Partial<Readonly<Record<MemoryName, number>>> = {
  // An execution, and three copies of what it has in the output store.
  'values of callers': heaviestObject + 3 * limits.inlinedValuesBytes,
  'values of webhooks': limits.parsedJsonBytes,
  'answers to unknown callers': limits.parsedJsonBytes + mebibyte,
  'values of pods': limits.parsedJsonBytes + mebibyte,
  // Nested lists take 34 bytes for each byte of their text; keys of a few characters are counted as more than they take.
  'arguments of tool calls': 36 * limits.toolCallArgumentsBytes,
  'unread events': 2 * limits.inlinedValuesBytes + mebibyte,
};

describe.each(['api', 'gateway'] as const)('an entry counts as the share of its tenant at most: %s', (process) => {
  const heap = limitOf(process) * mebibyte * heapPart;
  // Where the share is more than half of the pool there is one such entry at a time, else there are two.
  // Text and values of the largest answer of a registered tool, two bytes for each character of both. Its bytes are beside the heap.
  const ofTools = { 'large answers': 4 * largestAnswerPart * bytesOf('large answers', heap) };
  const beyond = Object.entries({ ...largestEntries, ...ofTools }).map(([name, largest]) => {
    const { size, share } = sizesOf(name as MemoryName, heap);
    return Math.floor(size / share) * Math.max(0, largest - share);
  });

  it('what the largest ones take beyond that fits into what the pools leave free, all pools full of them', () => {
    expect(Math.max(...beyond)).toBeGreaterThan(0);
    expect(beyond.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual((1 - fillable) * heap);
  });
});

it('the parts of the memory for responses have room for the largest of two tenants, and for the values of one', () => {
  const size = bytesOf('answers of upstreams', limitOf('gateway') * mebibyte * heapPart);
  expect(Object.values(upstreamParts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(1);
  expect((upstreamParts.bodies * size) / 2).toBeGreaterThanOrEqual(chainLimitsDefault.responseBytes);
  expect((upstreamParts.bodies * size) / 2).toBeGreaterThanOrEqual(memoryOf(mcpLimits.responseBytes));
  expect((upstreamParts.kept * size) / 2).toBeGreaterThanOrEqual(answerLimits.keptBytes);
  expect(upstreamParts.read * size).toBeGreaterThanOrEqual(answerLimits.heapBytes);
});

it.each<[MemoryName, number]>([
  ['bodies of callers', contractBytes(gatewayContracts, 'bearer')],
  ['bodies of signed calls', envelopeLimits.envelopeBytes],
  ['bodies of unknown callers', limits.webhookBodyBytes],
  ['bodies of pods', contractBytes(podContracts, 'pod')],
])('%s: one owner may have the largest body with the memory of the chart', (name, largest) => {
  const heap = limitOf('api') * mebibyte * heapPart;
  expect(bytesOf(name, heap) / 2).toBeGreaterThanOrEqual(largest);
});

describe('objects of one tenant at its default quota, each as large as its kind permits', () => {
  it.each(cachedRows)('are as many as the quota takes: $kind', ({ kind, count }) => {
    const key = Object.keys(defaultQuota).find((name) => name.startsWith(`count/${kind.toLowerCase()}s.`));
    expect(Number(defaultQuota[key as keyof typeof defaultQuota])).toBe(count);
  });

  it.each(['api', 'gateway', 'controllers'] as const)('are less than the heap of the chart: %s', (process) => {
    // Each host needs a daemon with a token of its own.
    const rows = cachedRows.filter(({ kind }) => kind !== 'EdgeHost');
    expect(quotaMebibytes(rows, process)).toBeGreaterThan(0);
    expect(quotaMebibytes(rows, process)).toBeLessThan(limitOf(process) * heapPart);
  });
});

it('a larger heap makes no pool larger than that of the largest one counted', () => {
  for (const { name } of memoryRows) {
    expect(bytesOf(name, 8 * largestHeapBytes)).toBe(bytesOf(name, largestHeapBytes));
    expect(bytesOf(name, largestHeapBytes / 4)).toBeLessThan(bytesOf(name, largestHeapBytes) / 3);
  }
});

const sources = globSync('{api,gateway,relay,controllers,lib}/**/*.ts', { cwd: project })
  .filter(
    (file) => !file.endsWith('.test.ts') && !file.includes('/generated/') && !file.startsWith('lib/memory-budget/'),
  )
  .map((file) => ({ file, text: readFileSync(resolve(project, file), 'utf8') }));

it('every row of the table has a pool, and no size is taken of a row twice in one module', () => {
  const taken = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/bytesOf\('([^']+)'\)/g)].map(([, name = '']) => ({ file, name })),
  );
  expect(new Set(taken.map(({ name }) => name))).toEqual(new Set(memoryRows.map(({ name }) => name)));
  const twice = taken.filter(
    (one, index) => taken.findIndex(({ file, name }) => file === one.file && name === one.name) !== index,
  );
  expect(twice).toEqual([]);
});

/** Makers of pools and caches that may count bytes. */
const maker =
  /\b(?:createFairPool|createSharedCache|createAnswerRoom|createUpstreamRoom|createWholeObjects|new RawShares)\(|maxSize:/;

/**
 * Modules whose pools count places, turns and requests, or that are given the size; with what bounds their bytes. A pool
 * of bytes is no part of this list: it takes its size from the table.
 */
const countsOtherThings: Readonly<Record<string, string>> = {
  'api/agents/drivers/room-line.ts': 'given: room.ts',
  'api/agents/pods/pod-identity.ts': 'questions to the API server',
  'api/cluster/catch-up.ts': 'searches',
  'api/ingest/router-agent.ts': 'questions to router agents',
  'api/ingest/settler.ts': 'stimuli',
  'api/routes/agent-pods/final-answer.ts': 'pages that are read, eight at once',
  'api/routes/archived.ts': 'records that are read, five at once',
  'api/tool-calls/tool-calls.ts': 'calls',
  'api/tools/operations.ts': 'operations',
  'controllers/fleet-run/view/news-reader.ts': 'pages of results, four at once',
  'controllers/fleet-run/pools.ts': 'calls of hosts; the others are given: limits.ts',
  'controllers/registered-tools/informers.ts': 'given: api-spec/slim.ts',
  'controllers/runtime/events.ts': 'Events',
  'controllers/step-pods/captures.ts': 'streams and readings, whose bytes log-memory.ts counts',
  'controllers/step-pods/log-memory.ts': 'given: limits.ts',
  'controllers/step-pods/pod-notes.ts': 'looks at Events',
  'gateway/cluster/cluster.ts': 'given: api-spec/slim.ts',
  'gateway/lane/invoke.ts': 'proofs and calls',
  'gateway/registry/registry.ts': 'requests to the API server',
  'lib/audit-chain/audit-record.ts': 'reads of the audit, three at once',
  'lib/bus/subscribe/nats-subscriber.ts': 'messages',
  'lib/connection-shares.ts': 'connections',
  'lib/envelope/proof-pool.ts': 'proofs',
  'lib/envelope/token.ts': 'tokens of 1 MiB in all',
  'lib/fair-pool.ts': 'the pool itself',
  'lib/http/in-flight.ts': 'answers without an end',
  'lib/http/request-memory.ts': 'given: body-limits.ts',
  'lib/kube/request-shares.ts': 'requests to the API server',
  'lib/manifest/manifest-reader.ts': 'threads, each with a heap of its own',
  'lib/mcp/mcp-servers.ts': 'calls',
  'lib/memo.ts': 'characters of remembered texts, 1 MiB a memory at most',
  'lib/server-reads.ts': 'reads of single objects',
  'lib/shared-cache.ts': 'the cache itself',
  'lib/tool-chain/reading-turns.ts': 'turns',
  'lib/tools/web/markdown.ts': 'threads, each with a heap of its own',
  'lib/tools/web/upstream-room.ts': 'given: services.ts of the gateway',
  'lib/upstream/create-upstream.ts': 'requests',
  'lib/upstream/pools.ts': 'connections',
  'lib/word-search.ts': 'searches, one at a time',
  'relay/hosts/live-hosts.ts': 'reads of hosts',
  'relay/rpc/challenge-limit.ts': 'proofs',
  'relay/rpc/rotate-limit.ts': 'proofs, and reads and writes of hosts',
  'relay/streams/entries.ts': 'writes',
  'relay/streams/host-states.ts': 'calls',
  'relay/streams/payload.ts': 'fields of one turn of the event loop',
  'relay/streams/silent-hosts.ts': 'writes',
  'relay/streams/take-event.ts': 'turns at the bus',
  'relay/streams/tenant-streams.ts': 'streams',
};

it('no module makes a pool of bytes without the table', () => {
  const makers = sources.filter(({ text }) => maker.test(text));
  const without = makers.filter(({ text }) => !text.includes("memory-budget/index.ts'")).map(({ file }) => file);
  expect(without.toSorted()).toEqual(Object.keys(countsOtherThings).toSorted());
});

it('no module with the table makes a pool of a size of its own', () => {
  const own = /(?:size|maxSize|maxBytes|keptBytes|poolBytes|waitingBytes): \d[\d_]*(?: \* |_\d{3}_)/;
  const withTable = sources.filter(({ text }) => maker.test(text) && text.includes("memory-budget/index.ts'"));
  expect(withTable.filter(({ text }) => own.test(text)).map(({ file }) => file)).toEqual([]);
});

it('no request reserves memory that is counted nowhere', () => {
  const nothing = /\breserve: (?:async )?\(\w*\)(?:: [^=]+)? => (?:Promise\.resolve\(|undefined|\{\s*\})/;
  expect('    reserve: () => Promise.resolve(),').toMatch(nothing);
  expect(sources.filter(({ text }) => nothing.test(text)).map(({ file }) => file)).toEqual([]);
});

/** Caches that count entries, with the reason why no tenant chooses the size of one. Any other one has a bound in bytes. */
const entriesOfOneSize: Readonly<Record<string, string>> = {
  'api/agents/pods/pod-identity.ts': 'a hash and a verdict; of a pod its uid, address, phase and containers',
  'api/agents/pods/pod-senders.ts': 'an address and a uid',
  'api/billing/remembered.ts': 'a slug, and the balance that the operator has for it',
  'api/cluster/catch-up.ts': 'a namespace and two times',
  'api/ingest/routing-table.ts': 'a uid and a version',
  'api/tool-calls/tool-calls.ts': 'a uid',
  'api/tools/git-waits.ts': 'a uid and a number',
  'controllers/runtime/events.ts': 'a short key or a uid, and numbers',
  'controllers/runtime/facts.ts': 'an id of a fact',
  'gateway/tools/cli-source.ts': 'a namespace, the name of a tool and its version',
  'gateway/tools/former-names.ts': 'a namespace and the name of a tool',
  'lib/bus/kv/key-accounts.ts': 'a slug and numbers',
  'lib/credentials/token-exchange.ts': 'a hash and a time',
  'lib/edge/heartbeats.ts': 'a uid and the id of a relay',
  'lib/edge/host-commands.ts': 'a uid, the id of a relay and a number',
  'lib/envelope/call-counter.ts': 'a session and three ids',
  'lib/mcp/sessions.ts': 'a connection to a server of the operator, of which a tenant has one',
  'lib/output-store/config-map-store.ts': 'the name of a ConfigMap',
  'lib/registration/keep-revision.ts': 'the name of a revision',
  'lib/rejection-budget.ts': 'a short key and a number',
  'lib/silences.ts': 'a uid and numbers',
  'lib/token-buckets.ts': 'a uid or a short key, and two numbers',
  'lib/unknown-ids.ts': 'a short key and a time',
  'lib/upstream/pools.ts': 'connections, of which a tenant has a share',
  'relay/hosts/live-hosts.ts': 'a uid',
  'relay/rpc/attest-limit.ts': 'an address and a time',
  'relay/rpc/challenge-limit.ts': 'an id and a number',
  'relay/sent-commands.ts': 'two ids',
  'relay/streams/alike-capabilities.ts': 'capabilities of 2,048 characters at most',
  'relay/streams/key-reader.ts': 'a public key of 32 bytes',
};

it('every cache that counts entries has entries of which no tenant chooses the size', () => {
  const made = /new LRUCache(?:<(?:[^<>]|<[^<>]*>)*>)?\(([^;]*?)\);|new LRUCache(?:<(?:[^<>]|<[^<>]*>)*>)?\(\{ max:/gs;
  const byEntries = sources.filter(({ text }) =>
    [...text.matchAll(made)].some(([, of = '']) => !/maxSize|sizeCalculation/.test(of)),
  );
  expect(byEntries.map(({ file }) => file).toSorted()).toEqual(Object.keys(entriesOfOneSize).toSorted());
});

/** Processes that serve many tenants. */
export type MemoryProcess = 'api' | 'gateway' | 'relay' | 'controllers';

/** The part of memory that a row is held in: JavaScript values, or bytes as they came, which V8 keeps beside its heap. */
type MemoryPlace = 'heap' | 'beside';

interface MemoryRow {
  /** Size, as a part of the heap of the process. */
  readonly share: number;
  readonly place: MemoryPlace;
  /** How many pools of this row each process makes; 0 where a process has none. */
  readonly pools: Partial<Readonly<Record<MemoryProcess, number>>>;
  /** Text of the documentation: what is held. */
  readonly holds: string;
}

const servers = { api: 1, gateway: 1 } as const;
const everywhere = { api: 1, gateway: 1, relay: 1, controllers: 1 } as const;

/** Objects in full that were used last, of one kind. */
const whole = (kind: string, share: number, pools: MemoryRow['pools']): MemoryRow => ({
  share,
  place: 'heap',
  pools,
  holds: `objects in full that were used last: ${kind}`,
});

/**
 * Every pool, cache and queue with a bound in bytes that tenants can fill. Each takes its size from here, so that all of
 * them together fit beside what a process needs for itself (`test/contract/memory-budget.test.ts`).
 */
export const memoryTable = {
  'bodies of callers': {
    share: 0.056,
    place: 'beside',
    pools: servers,
    holds: 'bodies, as they came, of callers with a token',
  },
  'bodies of signed calls': {
    share: 0.02,
    place: 'beside',
    pools: servers,
    holds: 'bodies, as they came, of signed calls whose tenant is not known yet',
  },
  'bodies of unknown callers': {
    share: 0.036,
    place: 'beside',
    pools: servers,
    holds: 'bodies, as they came, of webhooks and of callers without a token',
  },
  'bodies of pods': { share: 0.0285, place: 'beside', pools: servers, holds: 'bodies, as they came, of agent pods' },
  'small bodies': {
    share: 0.0095,
    place: 'beside',
    // One of each listener.
    pools: { api: 2, gateway: 2 },
    holds: 'bodies of up to 64 KiB, as they come, of all callers of a listener',
  },
  'values of callers': {
    share: 0.06,
    place: 'heap',
    pools: servers,
    holds: 'values of the bodies of callers with a token, and their large answers',
  },
  'values of webhooks': { share: 0.025, place: 'heap', pools: servers, holds: 'values of the bodies of webhooks' },
  'answers to unknown callers': {
    share: 0.02,
    place: 'heap',
    pools: servers,
    holds: 'values of the bodies of callers without a token, and large answers to them',
  },
  'values of pods': {
    share: 0.025,
    place: 'heap',
    pools: servers,
    holds: 'values of the bodies of agent pods, and pages of their final answers; one tenant has half of it at most',
  },
  'signed calls': { share: 0.08, place: 'heap', pools: servers, holds: 'large bodies and answers of signed calls' },
  'waiting signed answers': {
    share: 0.02,
    place: 'heap',
    pools: servers,
    holds: 'answers of signed calls that wait for room',
  },
  'unread events': { share: 0.03, place: 'heap', pools: servers, holds: 'events that clients have not read' },
  'event outbox': { share: 0.02, place: 'heap', pools: everywhere, holds: 'events that wait for the event bus' },
  'messages read ahead': {
    share: 0.01,
    place: 'heap',
    pools: everywhere,
    holds: 'messages of logs that are asked for together, as large as they may be',
  },
  'audit events': {
    share: 0.02,
    place: 'heap',
    pools: { gateway: 1 },
    holds: 'audit events that wait for the event bus',
  },
  conversations: { share: 0.09, place: 'heap', pools: { api: 1 }, holds: 'conversations that a replica drives' },
  'large answers': {
    share: 0.079,
    place: 'heap',
    pools: { api: 1 },
    holds:
      'pages of `web.fetch` and `web.search`, answers of registered tools, and large objects that other tools read, from 32 KiB on',
  },
  'arguments of tool calls': {
    share: 0.02,
    place: 'heap',
    pools: { api: 1 },
    holds: 'large arguments of tools that workflows call; one tenant has half of it at most',
  },
  'stimuli that wait': {
    share: 0.008,
    place: 'heap',
    pools: { api: 1 },
    holds: 'contents of stimuli, as texts, that wait for a router agent',
  },
  'agent definitions': { share: 0.015, place: 'heap', pools: { api: 1 }, holds: 'definitions of running agents' },
  'lists of registered tools': {
    share: 0.01,
    place: 'heap',
    pools: { api: 1 },
    holds: 'lists of registered tools that agents were offered last',
  },
  'records of fleet runs': {
    share: 0.022,
    place: 'heap',
    pools: { api: 1 },
    holds: 'parts of the records of fleet runs that event streams read',
  },
  'records of fleet runs in turn': {
    share: 0.016,
    place: 'heap',
    pools: { controllers: 1 },
    holds:
      'parts of the records of fleet runs that a new leader reads or that are joined, and values of large arguments',
  },
  'arguments on their way': {
    share: 0.005,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'large arguments of commands of fleet runs, as texts, until the relays of their hosts have answered',
  },
  'fleet runs under way': {
    share: 0.04,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'fleet runs under way, without their output; one tenant has half of it at most',
  },
  'fleet runs that end': {
    share: 0.005,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'fleet runs that are cancelled or deleted while they wait for room; one tenant has half of it at most',
  },
  'script rows': { share: 0.01, place: 'heap', pools: { api: 1 }, holds: 'rows of scripts, without their code' },
  'answers of upstreams': {
    share: 0.122,
    place: 'heap',
    pools: { gateway: 1 },
    holds:
      'answers of upstreams of registered tools, from 32 KiB on, and values that calls keep of answers of any size',
  },
  'sessions of registered tools': {
    share: 0.004,
    place: 'heap',
    pools: { api: 1 },
    holds: 'sessions by which agents and workflows call registered tools',
  },
  'claims of commands': {
    share: 0.002,
    place: 'heap',
    pools: { api: 1, controllers: 1 },
    holds: 'claims of commands for hosts that are not sent yet',
  },
  'tokens of upstreams': {
    share: 0.005,
    place: 'heap',
    pools: { gateway: 1 },
    holds: 'access tokens of upstreams of registered tools',
  },
  'names of tool workflows': {
    share: 0.003,
    place: 'heap',
    pools: { gateway: 1 },
    holds: 'names that tool workflows have had since the process began',
  },
  'sessions of signed calls': {
    share: 0.02,
    place: 'heap',
    pools: { gateway: 1 },
    holds: 'active sessions of signed calls, without their patterns of tools',
  },
  'schemas of tools': {
    share: 0.006,
    place: 'heap',
    pools: { gateway: 1 },
    holds: 'texts of large schemas of tools that lists and calls read last',
  },
  'API documents': {
    share: 0.04,
    place: 'heap',
    // The modules of ApiSpecs and of ToolWorkflows read for themselves.
    pools: { gateway: 1, controllers: 2 },
    holds: 'operations of API documents',
  },
  'logs of steps': {
    share: 0.11,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'logs of steps that are read, and outputs that are not stored yet',
  },
  'output of fleet runs': {
    share: 0.04,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'ends of the output of fleet runs, until the outcomes are stored',
  },
  'records being written': {
    share: 0.04,
    place: 'heap',
    pools: { controllers: 1 },
    holds: 'values of archive records that are being written',
  },
  'orders to hosts': {
    share: 0.04,
    place: 'heap',
    pools: { relay: 1 },
    holds: 'orders that have not left for their hosts',
  },
  'objects in use': {
    share: 0.02,
    place: 'heap',
    // Executions of workflows and of agents, ToolWorkflows and CliTools; in a gateway the latter two.
    pools: { controllers: 4, gateway: 2 },
    holds: 'large executions and registered tools that reconcilers have in use, or a gateway reads',
  },
  'whole executions': whole('WorkflowExecution', 0.03, { api: 1, controllers: 1 }),
  'whole workflows': whole('Workflow', 0.02, { api: 1, controllers: 1 }),
  'whole revisions': whole('ControllerRevision', 0.03, { controllers: 1 }),
  'whole agents': whole('Agent', 0.01, { api: 1, controllers: 1 }),
  'whole agent executions': whole('AgentExecution', 0.01, { api: 1, controllers: 1 }),
  'whole tool calls': whole('ToolCall', 0.01, { controllers: 1 }),
  'whole edge hosts': whole('EdgeHost', 0.005, { api: 1 }),
  'whole edge groups': whole('EdgeGroup', 0.003, { api: 1, controllers: 1 }),
  'whole fleet runs': whole('FleetRun', 0.01, { api: 1 }),
  'whole tools': whole('ApiSpec, ToolWorkflow and CliTool, each', 0.01, { gateway: 3, controllers: 3 }),
  'connections of strangers': {
    share: 0.045,
    place: 'beside',
    pools: { relay: 1 },
    holds: 'connections of daemons that have not proved who they are',
  },
  'connections that wait': {
    share: 0.08,
    place: 'heap',
    pools: { relay: 1 },
    holds: 'sockets that wait for the place of such a connection',
  },
  'requests of strangers': {
    share: 0.04,
    place: 'beside',
    pools: { relay: 1 },
    holds: 'requests of daemons without a stream, as they come',
  },
  'headers of strangers': {
    share: 0.08,
    place: 'heap',
    pools: { relay: 1 },
    holds: 'headers of such requests, until they are whole',
  },
  'handshakes of gRPC': {
    share: 0.0024,
    place: 'beside',
    pools: { api: 1 },
    holds: 'connections of gRPC whose certificate is not known yet',
  },
  'connections that wait for a handshake': {
    share: 0.005,
    place: 'heap',
    pools: { api: 1 },
    holds: 'sockets that wait for the place of such a connection',
  },
  'messages of daemons': {
    share: 0.1,
    place: 'beside',
    pools: { relay: 1 },
    holds: 'messages of daemons, of more than 16 KiB, that have begun to arrive or are not handled yet',
  },
} as const satisfies Readonly<Record<string, MemoryRow>>;

export type MemoryName = keyof typeof memoryTable;

/** The rows with their names, for those who look at all of them. */
export const memoryRows: readonly (MemoryRow & { readonly name: MemoryName })[] = Object.entries<MemoryRow>(
  memoryTable,
).map(([name, row]) => ({ ...row, name: name as MemoryName }));

/** Bounds of the connections that one process has to upstreams (issue 13, part 5). */
export const upstreamLimits = {
  /** Pools of all tenants together; one is for a tenant, an origin and the networks opened for it. */
  pools: 1_000,
  /** Pools of one tenant. */
  poolsPerTenant: 100,
  /** Connections of one pool. */
  connections: 20,
  /** How long a request waits for one of them: half the time of a step, so that an API that waits for it hears of it. */
  connectionWaitMs: 15_000,
  /** Requests under way and waiting in one process; one tenant has four fifths at most. */
  requests: 500,
  waiting: 1_000,
  waitMs: 10_000,
  /** A connection that is not used is closed, and so is a pool. */
  keepAliveMs: 20_000,
  poolIdleMs: 60_000,
  connectMs: 10_000,
  headerBytes: 65_536,
} as const;

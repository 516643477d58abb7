import type { Program } from '../program.ts';
import { agentPanel, agentRuns } from './agents.ts';
import { agentTurn, tokenDelay, waitingMemoryRow } from './agent-model.ts';
import { besideArgoWorkflows } from './argo.ts';
import { apiMemory, apiMemoryGrowth } from './api-memory.ts';
import { apiRead } from './api-read.ts';
import { besideWorst, besideWorstTime } from './beside-worst.ts';
import { burst } from './burst.ts';
import { chain } from './chain.ts';
import {
  edgeFleet,
  edgeHeartbeats,
  edgeMemory,
  edgeQuiet,
  edgeRate,
  edgeReconnect,
  edgeReconnectWrites,
} from './edge.ts';
import { eventDelivery, streamMemory } from './event-stream.ts';
import { fanOut } from './fan-out.ts';
import { gatewayMemory } from './gateway-memory.ts';
import { hostileApi, hostileControllers, hostileRefused } from './hostile-memory.ts';
import { idle } from './idle.ts';
import { apiInvocations, chainInvocations, chainLatency, invocationMemory, laneInvocations } from './invocations.ts';
import { manyApi, manyControllers } from './many-executions.ts';
import { memory } from './memory.ts';
import { podless, podlessWrites } from './podless.ts';
import { quotaInVain, quotaShares } from './quota-shares.ts';
import { webhooks, webhooksShared } from './webhooks.ts';
import { writes } from './writes.ts';

/** In the order of the table. */
export const programs: readonly Program[] = [
  chain,
  burst,
  fanOut,
  podless,
  podlessWrites,
  writes,
  memory,
  manyControllers,
  manyApi,
  hostileControllers,
  hostileApi,
  hostileRefused,
  idle,
  apiRead,
  apiMemory,
  apiMemoryGrowth,
  webhooks,
  webhooksShared,
  eventDelivery,
  streamMemory,
  besideWorst,
  besideWorstTime,
  quotaShares,
  quotaInVain,
  apiInvocations,
  laneInvocations,
  chainInvocations,
  chainLatency,
  invocationMemory,
  gatewayMemory,
  edgeMemory,
  edgeHeartbeats,
  edgeFleet,
  edgeRate,
  edgeReconnect,
  edgeReconnectWrites,
  edgeQuiet,
  agentRuns,
  agentPanel,
  tokenDelay,
  agentTurn,
  waitingMemoryRow,
  ...besideArgoWorkflows,
];

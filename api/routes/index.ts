import type { Contract } from '../../lib/http/contract.ts';
import type { Route } from '../../lib/http/route.ts';
import type { Caller } from '../identity/caller.ts';
import { contracts as billing } from './billing/index.ts';
import { contracts as executions } from './executions/index.ts';
import { contracts as humanApprovals } from './human-approvals/index.ts';
import { createHealthRoutes, contracts as service } from './service/index.ts';
import { submitStimulus } from './stimuli/contract.ts';
import { receiveWebhook } from './webhooks/contract.ts';
import { contracts as workflows } from './workflows/index.ts';

/** Every operation of the public listener: what the OpenAPI document, the client and the reference are made of. */
export const contracts: readonly Contract[] = [
  ...workflows,
  ...executions,
  ...humanApprovals,
  submitStimulus,
  receiveWebhook,
  ...billing,
  ...service,
];

/** What the routes of the public listener stand on. Each area adds what it needs. */
export type RoutesDeps = Readonly<Record<never, never>>;

/** The routes of the public listener. */
export function createRoutes(_deps: RoutesDeps): Route<Caller>[] {
  return [...createHealthRoutes<Caller>()];
}

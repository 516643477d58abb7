import type { Contract } from '../../lib/http/contract.ts';
import { contracts as agents } from './agents/index.ts';
import { contracts as agentExecutions } from './agent-executions/index.ts';
import { contracts as billing } from './billing/index.ts';
import { contracts as edge } from './edge/index.ts';
import { contracts as discovery } from './discovery/index.ts';
import { contracts as executions } from './executions/index.ts';
import { contracts as humanApprovals } from './human-approvals/index.ts';
import { contracts as service } from '../../lib/http/service/index.ts';
import { contracts as seal } from './seal/index.ts';
import { submitStimulus } from './stimuli/contract.ts';
import { contracts as volumes } from './volumes/index.ts';
import { receiveWebhook } from './webhooks/contract.ts';
import { contracts as workflows } from './workflows/index.ts';

/** Every operation of the public listener: what the OpenAPI document, the client and the reference are made of. */
export const contracts: readonly Contract[] = [
  ...workflows,
  ...executions,
  ...agents,
  ...agentExecutions,
  ...humanApprovals,
  ...volumes,
  submitStimulus,
  receiveWebhook,
  ...edge,
  ...seal,
  ...billing,
  ...service,
  ...discovery,
];

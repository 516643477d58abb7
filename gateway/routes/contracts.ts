import { contracts as service } from '../../lib/http/service/index.ts';
import { contracts as cliTools } from './cli-tools/contract.ts';
import { contracts as specs } from './specs/contract.ts';
import { contracts as toolWorkflows } from './workflows/contract.ts';
import { contracts as invoke } from './invoke/index.ts';
import { contracts as mcp } from './mcp/contract.ts';
import { contracts as securityContexts } from './security-contexts/contract.ts';
import { contracts as sessions } from './sessions/index.ts';
import { contracts as tools } from './tools/contract.ts';
import type { Contract } from '../../lib/http/contract.ts';
import { listAuditCheckpoints, listAuditEvents } from './audit-events/contract.ts';

/** Every operation of the public listener: the OpenAPI document and the reference page are made of these. */
export const contracts: readonly Contract[] = [
  listAuditEvents,
  listAuditCheckpoints,
  ...service,
  ...specs,
  ...toolWorkflows,
  ...cliTools,
  ...invoke,
  ...mcp,
  ...tools,
  ...sessions,
  ...securityContexts,
];

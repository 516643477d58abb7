import { describe, expect, it } from 'vitest';
import { contracts as apiContracts } from '../../api/routes/contracts.ts';
import { contracts as podContracts } from '../../api/routes/agent-pods/contract.ts';
import { createAgentPodRoutes } from '../../api/routes/agent-pods/index.ts';
import { createRoutes as createApiRoutes } from '../../api/routes/index.ts';
import { contracts as gatewayContracts } from '../../gateway/routes/contracts.ts';
import { createRoutes as createGatewayRoutes } from '../../gateway/routes/index.ts';
import { contracts as docs } from '../../lib/http/docs/contract.ts';
import type { Contract } from '../../lib/http/contract.ts';
import { partsOf } from './support/any-parts.ts';

const apiParts = partsOf([
  'archived',
  'audit',
  'billing',
  'bus',
  'clock',
  'cluster',
  'config',
  'edge',
  'feed',
  'kube',
  'logger',
  'manifests',
  'newId',
  'nodeConfig',
  'outputs',
  'rateLimit',
  'readDocsScript',
  'seal',
  'searches',
  'stimuli',
  'webhookSecrets',
]);
const gatewayParts = {
  ...partsOf(['audit', 'auditKeys', 'bus', 'cluster', 'documents', 'lane', 'rateLimit', 'registrations', 'tenancy']),
  config: {},
} as never;

interface Listener {
  readonly documented: readonly Contract[];
  readonly served: readonly { readonly contract: Contract }[];
}

const listeners: Record<string, Listener> = {
  'public listener of the API': { documented: [...apiContracts, ...docs], served: createApiRoutes(apiParts) },
  'internal listener of the API': {
    documented: podContracts,
    served: createAgentPodRoutes(partsOf(['clock']) as never),
  },
  'public listener of the gateway': {
    documented: [...gatewayContracts, ...docs],
    served: createGatewayRoutes(gatewayParts),
  },
};

const idsOf = (contracts: readonly Contract[]): string[] => contracts.map(({ operationId }) => operationId).toSorted();

describe.each(Object.entries(listeners))('the %s', (_name, { documented, served }) => {
  it('has one handler for each operation of its contracts, and none beside them', () => {
    expect(idsOf(served.map(({ contract }) => contract))).toEqual(idsOf(documented));
  });

  it('serves the very contract that its callers read', () => {
    for (const { contract } of served) expect(documented).toContain(contract);
  });
});

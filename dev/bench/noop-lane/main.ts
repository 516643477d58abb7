/**
 * The invocation lane of the gateway, with everything real but the cluster and the tool: that one does nothing, or is a chain
 * of one step. Beside it the parent measures bare-verifier.
 */

import { generateKeyPairSync } from 'node:crypto';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { createInvoke } from '../../../gateway/lane/invoke.ts';
import { createAuditedRefusals } from '../../../gateway/lane/lane.ts';
import { createInvokeRoutes } from '../../../gateway/routes/invoke/index.ts';
import { createSessionView } from '../../../gateway/sessions/session-view.ts';
import { createToolRegistry } from '../../../gateway/tools/tool-registry.ts';
import type { GatewayTool, ToolSource } from '../../../gateway/tools/tool-source.ts';
import { createAuditChain } from '../../../lib/audit-chain/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createRevocations,
  createSealSessions,
  createProofPool,
  createVouch,
  type SessionName,
} from '../../../lib/envelope/index.ts';
import { createHttpApp, createRateLimit } from '../../../lib/http/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createServerMetrics } from '../../../lib/process/server-metrics.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { benchBus, laneTool, serveForParent, setupOf, verifierIn } from '../lane-setup.ts';
import { chainSource } from './chain-source.ts';

// As in the gateway's own main.ts.
setFlagsFromString('--no-allocation-site-pretenuring');

const tool: GatewayTool = {
  name: laneTool,
  description: 'Does nothing.',
  input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  source: 'workflow',
  skip_judge: true,
  fleet_capable: false,
  call: async () => ({ content: '{}', structured: {}, isError: false }),
};

const noopSource: ToolSource = {
  list: () => [tool],
  find: (_tenant, name) => (name === tool.name ? tool : undefined),
};

const setup = setupOf(process.argv[2]);
const bus = benchBus(setup.natsUrl, 'bench-lane');
const deps = { bus, clock: systemClock, logger: silentLogger, newId };
const metrics = createServerMetrics();
const sessions = createSealSessions(bus);
const calls = createCallsUnderWay(systemClock);
const audit = createAuditChain({ ...deps, key: generateKeyPairSync('ed25519').privateKey });
const view = createSessionView(deps);
const revocations = createRevocations({ ...deps, sessions, calls });
const proof = { clock: systemClock, key: verifierIn(setup), sessions, known: (name: SessionName) => view.of(name) };
const proofs = createProofPool(proof);
const vouch = createVouch({ ...proof, proofs });
const invoke = createInvoke({
  audit,
  calls,
  clock: systemClock,
  counter: createCallCounter(bus),
  prove: createEnvelopeProof({ bus, ...proof }),
  proofs,
  rateLimit: createRateLimit(0),
  registry: createToolRegistry([setup.upstream === undefined ? noopSource : chainSource(audit, setup.upstream)]),
  securityOf: () => ({}),
  tenants: { namespaceOf: (slug) => slug },
});
const never = new AbortController().signal;
void revocations.run(never);
void view.run(never);
await revocations.open(never);
await serveForParent(
  createHttpApp({
    ...deps,
    metrics,
    routes: createInvokeRoutes({
      noteRefusal: createAuditedRefusals({ audit, clock: systemClock }),
      invoke,
      vouch,
      isBypass: false,
    }),
    authenticate: () => Promise.reject(new Error('no user signs in')),
    tenantOf: () => '',
  }),
);

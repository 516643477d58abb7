/** The route of signed invocations of the API, with everything real but the cluster and the tool, which does nothing. */
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { createSealInvokeRoutes } from '../../../api/routes/seal/invoke.ts';
import { createAuditTrail } from '../../../lib/bus/index.ts';
import { systemClock } from '../../../lib/clock.ts';
import {
  createCallCounter,
  createCallsUnderWay,
  createEnvelopeProof,
  createSealSessions,
  createProofPool,
  createVouch,
} from '../../../lib/envelope/index.ts';
import { createHttpApp, createRateLimit } from '../../../lib/http/index.ts';
import { newId } from '../../../lib/ids.ts';
import { createServerMetrics } from '../../../lib/process/server-metrics.ts';
import { createToolbox } from '../../../lib/tools/toolbox.ts';
import { aToolCaller } from '../../../test/builders/tool-caller.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { benchBus, serveForParent, setupOf, verifierIn } from '../lane-setup.ts';

// As in the API's own main.ts.
setFlagsFromString('--no-allocation-site-pretenuring');

const setup = setupOf(process.argv[2]);
const bus = benchBus(setup.natsUrl, 'bench-api');
const deps = { bus, clock: systemClock, logger: silentLogger, newId };
const sessions = createSealSessions(bus);
const caller = aToolCaller();
const proof = { clock: systemClock, key: verifierIn(setup), sessions };
const proofs = createProofPool(proof);
const routes = createSealInvokeRoutes({
  audit: createAuditTrail({ events: bus, clock: systemClock, newId }, 'api'),
  clock: systemClock,
  prove: createEnvelopeProof({ bus, ...proof }),
  proofs,
  admission: createCallsUnderWay(systemClock),
  vouch: createVouch({ ...proof, proofs }),
  rateLimit: createRateLimit(0),
  toolbox: createToolbox(
    { builtin_dispatchers: [] },
    {
      'svc.tools.list': { kind: 'api', run: async () => ({ content: '{}', isError: false }) },
    },
  ),
  calls: createCallCounter(bus),
  callerOf: async ({ tenant }) => ({ ...caller, tenant }),
  events: { raise: () => undefined },
  newId: () => 'id',
  container: { problem: () => undefined, run: () => Promise.reject(new Error('this tool runs in no pod')) },
});
await serveForParent(
  createHttpApp({
    ...deps,
    metrics: createServerMetrics(),
    routes,
    authenticate: () => Promise.reject(new Error('no user signs in')),
    tenantOf: () => '',
  }),
);

import { identityExample } from '../../api/routes/workflows/examples.ts';
import { apiVersion } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { anEnd, aQuestion, aWorkflow } from '../builders/workflow-builder.ts';
import { type ApiWorld, startApiWorld } from '../cluster/api/harness/index.ts';
import { startExecution, waitUntilFinished, waitUntilWaiting } from '../cluster/harness/executions.ts';
import { removeGlobalWorkflows } from '../cluster/harness/global-workflows.ts';
import { stimulusRouters, workflows } from '../cluster/harness/kinds.ts';
import { pause, waitForObject } from '../cluster/harness/wait.ts';
import { type PaymentProviderDouble, startPaymentProvider } from '../payment-provider/payment-provider.ts';

/** Input of hooks.py: callers, tenants, and existing objects. */
interface Facts {
  readonly token: string;
  readonly tenant: string;
  readonly secret: string;
  readonly manifest: object;
  /** Values of a parameter or field by its name, or by `operationId.name` where they differ. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

/** A running API with something of everything in a tenant, so that requests find what they ask for. */
export interface SchemathesisWorld {
  readonly url: string;
  readonly facts: Facts;
  readonly logFile: string;
  close(): Promise<void>;
}

const source = 'schemathesis';
const secret = 'a secret of the test';

export async function startWorld(): Promise<SchemathesisWorld> {
  const payments = await startPaymentProvider();
  const world = await startApiWorld({
    purpose: 'schemathesis',
    env: { SVC_WEBHOOK_SECRET_SCHEMATHESIS: secret, WINDLASS_LOG_LEVEL: 'info', ...paymentSettings(payments) },
  }).catch(async (error: unknown) => {
    await payments.stop();
    throw error;
  });
  const ending = `-${world.tenant.slice(-6)}`;
  const close = async (): Promise<void> => {
    try {
      // The example of the document is registered as well, at each scope.
      await removeGlobalWorkflows(world.kube, (name) => name.endsWith(ending) || name === identityExample.name);
    } finally {
      await world.close();
      await payments.stop();
    }
  };
  try {
    const [replica] = world.replicas;
    const facts = await fill(world, offerTier(payments), ending);
    return { url: replica?.url ?? '', logFile: replica?.logFile ?? '', facts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const paymentSettings = ({ secretKey, url }: PaymentProviderDouble): Readonly<Record<string, string>> => ({
  PAYMENT_PROVIDER_SECRET_KEY: secretKey,
  PAYMENT_PROVIDER_API_URL: url,
});

/** Something to buy; gives back the ids of its prices. */
function offerTier({ ledger }: PaymentProviderDouble): readonly [price: string, seats: string] {
  const product = ledger.addProduct();
  return [ledger.addPrice(product, 'monthly').id, ledger.addPrice(product, 'seat_monthly').id];
}

async function fill(world: ApiWorld, [price, seatPrice]: readonly [string, string], ending: string): Promise<Facts> {
  const { kube, tenant: namespace } = world;
  const five = (kind: string): string[] => Array.from({ length: 5 }, (_, index) => `${kind}-${index}${ending}`);
  const [moved, made, gone] = [five('moved'), five('made'), five('gone')];
  const unknownName = `nobody${ending}`;
  await Promise.all([...moved, ...gone].map((name) => define(world, aWorkflow(name).state('done', anEnd()).build())));
  await define(world, aWorkflow('quick').state('done', anEnd()).build());
  const gate = aWorkflow('gate')
    .state('ask', aQuestion('Go on?', { yes: 'done', no: 'done' }))
    .state('done', anEnd());
  await define(world, gate.build());
  const metadata = { name: 'routes', namespace };
  const spec = { routes: { [source]: 'quick' } };
  await kube.create(stimulusRouters, {
    apiVersion: 'windlass.dev/v1',
    kind: 'StimulusRouter',
    metadata,
    spec,
  } as never);
  const finished = await Promise.all(['first', 'second'].map((name) => run(world, name)));
  const waiting = await Promise.all(Array.from({ length: 8 }, (_, index) => wait(world, `waits-${index}`)));
  // An operator may do everything; what others may not is tested in test/cluster/api/identity.test.ts and its neighbours.
  const token = await world.token({ serviceAccount: 'schemathesis', roles: ['svc:operator'] });
  const approvals = await pendingRequests(world, token, waiting.length);
  return {
    token,
    tenant: namespace,
    secret,
    manifest,
    values: {
      workflow: ['quick', 'gate'],
      'registerWorkflow.workflow': made,
      'deleteWorkflow.workflow': [...made, ...gone, unknownName],
      'promoteWorkflow.workflow': [...moved, unknownName],
      'demoteWorkflow.workflow': [...moved, unknownName],
      price_id: [price],
      seat_price_id: [seatPrice],
      source: [source],
      id: approvals,
      execution_id: [...finished, ...waiting],
      // A stream, or a log that is followed, ends only with its execution.
      'streamExecution.execution_id': finished,
      'readExecutionLogs.execution_id': finished,
    },
  };
}

/** Without a name; hooks.py gives it one. */
const manifest = {
  apiVersion,
  kind: 'Workflow',
  metadata: { version: '1.0.0' },
  spec: {
    initial_state: 'done',
    states: { done: { kind: 'System', update_context: {}, transitions: [] } },
  },
};

async function define({ kube, tenant: namespace }: ApiWorld, workflow: Workflow): Promise<void> {
  const { name } = workflow.metadata;
  await kube.create(workflows, { ...workflow, metadata: { ...workflow.metadata, namespace } });
  const judged = ({ status }: Workflow): boolean => (status?.conditions ?? []).some(({ type }) => type === 'Ready');
  await waitForObject(kube, { resource: workflows, namespace, name }, judged);
}

async function run({ kube, tenant: namespace }: ApiWorld, name: string): Promise<string> {
  await startExecution(kube, { namespace, name }, { workflow: 'quick' });
  return (await waitUntilFinished(kube, { namespace, name })).metadata.uid ?? '';
}

async function wait({ kube, tenant: namespace }: ApiWorld, name: string): Promise<string> {
  await startExecution(kube, { namespace, name }, { workflow: 'gate' });
  return (await waitUntilWaiting(kube, { namespace, name, state: 'ask' })).metadata.uid ?? '';
}

/** A list is what the replica has seen by then: it is asked until all of them are there. */
async function pendingRequests(world: ApiWorld, token: string, count: number): Promise<string[]> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const answer = await world.http('/v1/human-approvals', { token, headers: { 'X-Tenant-Id': world.tenant } });
    const { pending_requests: pending } = answer.json<{ pending_requests: { id: string }[] }>();
    if (pending.length === count) return pending.map(({ id }) => id);
    await pause(50);
  }
  throw new Error(`there are not ${count} requests for approval`);
}

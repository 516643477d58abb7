import { createHmac } from 'node:crypto';
import type { StimulusRouterSpec } from '../../../crds/schema/stimulus-router.ts';
import type { Workflow, WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { anEnd, aWorkflow } from '../../builders/workflow-builder.ts';
import { type StoredEvent, storedEvents } from '../../nats/stored-events.ts';
import { stimulusRouters, workflowExecutions, workflows } from '../harness/kinds.ts';
import { waitForObject } from '../harness/wait.ts';
import { type ApiWorld, type ApiWorldOptions, type Received, startApiWorld } from './harness/index.ts';

/** The answer to an accepted stimulus. */
export interface Accepted {
  readonly stimulus_id: string;
  readonly workflow_execution_id: string;
}

/** The API with what tests of stimuli need. Everything is made in the first tenant unless another is named. */
export interface StimuliWorld extends ApiWorld {
  /** A workflow that ends at once, accepted by the controllers. */
  workflow(name: string, fields?: Partial<WorkflowSpec>, namespace?: string): Promise<Workflow>;
  router(name: string, spec: StimulusRouterSpec, namespace?: string): Promise<void>;
  /** As a person of the first tenant. */
  submit(body: unknown, options?: SubmitOptions): Promise<Received>;
  /** Signed with the secret of `secretOf`. */
  webhook(source: string, body: string | Uint8Array, options?: WebhookOptions): Promise<Received>;
  executions(namespace?: string): Promise<readonly WorkflowExecution[]>;
  /** Events of stimuli, once there are at least so many. */
  events(least: number, tenant?: string): Promise<readonly StoredEvent[]>;
}

interface SubmitOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tenant?: string;
  readonly replica?: number;
}

interface WebhookOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly replica?: number;
}

/** The secret that a source of the tests has, if it has one. */
export const secretOf = (source: string): string => `secret of ${source}`;

export const signatureOf = (source: string, body: string | Uint8Array): string =>
  `sha256=${createHmac('sha256', secretOf(source)).update(body).digest('hex')}`;

/** The value of `X-Svc-Bound-Signature`. */
export const boundSignatureOf = (source: string, key: string, body: string): string =>
  `sha512=${createHmac('sha512', secretOf(source)).update(`${source}\n${key}\n${body}`).digest('hex')}`;

/** `sources` are those with a secret. */
export async function startStimuliWorld(sources: readonly string[], options: ApiWorldOptions): Promise<StimuliWorld> {
  const secrets = sources.map((source) => [
    `SVC_WEBHOOK_SECRET_${source.toUpperCase().replaceAll(/[-.]/g, '_')}`,
    secretOf(source),
  ]);
  const world = await startApiWorld({ ...options, env: { ...Object.fromEntries(secrets), ...options.env } });
  return { ...world, ...makers(world), ...senders(world), ...readers(world) };
}

function makers({ kube, tenant }: ApiWorld): Pick<StimuliWorld, 'workflow' | 'router'> {
  return {
    async workflow(name, fields = {}, namespace = tenant) {
      const made = aWorkflow(name).with(fields).state('done', anEnd()).build();
      await kube.create(workflows, { ...made, metadata: { ...made.metadata, namespace } });
      const judged = ({ status }: Workflow): boolean =>
        status?.conditions?.some(({ type }) => type === 'Ready') === true;
      return waitForObject(kube, { resource: workflows, namespace, name }, judged);
    },
    async router(name, spec, namespace = tenant) {
      const metadata = { name, namespace };
      await kube.create(stimulusRouters, { apiVersion: 'windlass.dev/v1', kind: 'StimulusRouter', metadata, spec });
    },
  };
}

function senders(world: ApiWorld): Pick<StimuliWorld, 'submit' | 'webhook'> {
  return {
    async submit(body, { headers, tenant = world.tenant, replica } = {}) {
      const sending = {
        token: await world.token({ user: 'kim', tenant }),
        body,
        ...(headers === undefined ? {} : { headers }),
      };
      return world.http('/v1/stimuli', sending, replica);
    },
    webhook(source, body, { headers = {}, replica } = {}) {
      const signed = { 'x-svc-signature': signatureOf(source, body), ...headers };
      return world.http(`/v1/webhooks/${source}`, { method: 'POST', body, headers: signed }, replica);
    },
  };
}

function readers({ kube, tenant: own, nats }: ApiWorld): Pick<StimuliWorld, 'executions' | 'events'> {
  return {
    executions: async (namespace = own) => (await kube.listAll(workflowExecutions, { namespace })).items,
    async events(least, tenant = own) {
      if (nats === undefined) throw new Error('this world has no event bus');
      const deadline = Date.now() + 15_000;
      for (;;) {
        const found = await storedEvents(nats, tenant, 'stimulus');
        if (found.length >= least || Date.now() > deadline) return found;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

import type { Clock } from '../../lib/clock.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { ControllersConfig } from '../config.ts';
import { type Informers, ownerKey } from '../informers.ts';
import type { ControllerFactory } from '../run-controllers.ts';
import type { Controller, EventRecorder, ProcessRuntime } from '../runtime/index.ts';
import type { Waiting } from '../wiring.ts';
import { createCaptures } from './captures.ts';
import { createFindWorkflow } from './find-workflow.ts';
import type { PodSettings } from './pod.ts';
import { createExecutionReconcile } from './reconcile.ts';
import { createRejectedPods } from './rejected-pods.ts';

export interface ExecutionControllerDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: ControllersConfig;
  readonly informers: Informers;
  readonly events: EventRecorder;
  readonly waiting: Waiting;
  readonly controller: ControllerFactory;
  readonly store: OutputStore;
  readonly runtime: ProcessRuntime;
}

/** The first minor version of Kubernetes 1 that mounts image volumes without a feature gate. */
const imageVolumesSince = 35;

/** Wires the engine to the cluster. Asks the server for its version once. */
export async function createExecutionController(deps: ExecutionControllerDeps): Promise<Controller> {
  const { kube, clock, logger, informers, config, runtime } = deps;
  const wake: { controller?: Controller } = {};
  const enqueue = (key: string | undefined): void => {
    if (key !== undefined) wake.controller?.queue.add(key);
  };
  const rejected = createRejectedPods();
  const captures = createCaptures({
    kube,
    clock,
    logger,
    signal: runtime.abandon,
    onKnown: (pod) => enqueue(ownerKey(pod, 'WorkflowExecution')),
  });
  const caches = {
    executions: informers.executions.cache,
    pods: informers.pods.cache,
    volumes: informers.volumes.cache,
  };
  const reconcile = createExecutionReconcile({
    kube,
    clock,
    caches,
    events: deps.events,
    store: deps.store,
    onWaiting: (key, workflow) => deps.waiting.add(key, workflow),
    findWorkflow: createFindWorkflow({
      kube,
      workflows: informers.workflows.cache,
      revisions: informers.revisions.cache,
    }),
    observe: {
      caches,
      outcomeOf: captures.outcomeOf,
      rejectedPods: rejected.of,
      settings: { executionTtlSeconds: config.WINDLASS_EXECUTION_TTL_SECONDS },
    },
    apply: {
      kube,
      ...caches,
      podSettings: await podSettings(kube, config),
      identity: 'windlass-controllers',
      now: () => clock.now(),
      onReleased: captures.forget,
      onRejected: (execution, name, action, failure) => {
        rejected.add(execution, name, action.slot, failure);
        enqueue(`${execution.metadata.namespace}/${execution.metadata.name}`);
      },
    },
    onEnded: rejected.forget,
  });
  wake.controller = deps.controller('WorkflowExecution', reconcile);
  return wake.controller;
}

async function podSettings(kube: Pick<KubeClient, 'serverVersion'>, config: ControllersConfig): Promise<PodSettings> {
  const { major, minor } = await kube.serverVersion();
  const mount = config.WINDLASS_RUNNER_MOUNT;
  const able = major > 1 || minor >= imageVolumesSince;
  return {
    runnerImage: config.WINDLASS_RUNNER_IMAGE,
    systemImage: config.WINDLASS_SYSTEM_IMAGE,
    imageVolumes: mount === 'image-volume' || (mount === 'auto' && able),
    runAsUser: config.WINDLASS_STEP_RUN_AS_USER,
    nodeLostSeconds: config.WINDLASS_STEP_NODE_LOST_SECONDS,
    defaultResources: {
      requests: { cpu: config.WINDLASS_STEP_CPU_REQUEST, memory: config.WINDLASS_STEP_MEMORY_REQUEST },
    },
  };
}

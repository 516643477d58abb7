import { defineModule } from '../runtime/module.ts';
import { createStimulusRouterReconcile } from './reconcile.ts';
import { routerInformers, routerWakes } from './wakes.ts';

export const stimulusRouterModule = defineModule({
  kind: 'StimulusRouter',
  informers: routerInformers,
  wakes: routerWakes,
  reconcile: ({ kube, clock, config, informers: { routers, workflows, agents, tenants } }) =>
    createStimulusRouterReconcile({
      kube,
      clock,
      routers: routers.cache,
      workflows: workflows.cache,
      agents: agents.cache,
      tenants: tenants.cache,
      systemNamespace: config.WINDLASS_LEASE_NAMESPACE,
    }),
});

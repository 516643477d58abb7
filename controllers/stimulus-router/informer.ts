import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import { createInformer, type Informer, stripStrangers } from '../../lib/informer/index.ts';
import { stimulusRouters } from '../../lib/kinds.ts';
import { sourceKeysOf } from '../../lib/stimulus/source-claims.ts';
import { isWorkflowSource } from '../../lib/stimulus/workflow-source.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

type RouterIndex = 'source' | 'workflow' | 'agent' | 'namespace' | 'ended';

/**
 * Routers by the claims of their sources, by the workflows that they name and by namespace. `ended`: `namespace/source` of
 * each route for executions that end.
 */
export const routerInformer: InformerSpec<Informer<StimulusRouter, RouterIndex>> = {
  name: 'routers',
  kind: 'StimulusRouter',
  open: (deps) =>
    createInformer(deps, {
      resource: stimulusRouters,
      parse: withSpec,
      strip: stripStrangers,
      indexes: {
        source: sourceKeysOf,
        workflow: ({ spec }) => Object.values(spec.routes ?? {}),
        agent: ({ spec }) => (spec.router_agent === undefined ? [] : [spec.router_agent]),
        namespace: ({ metadata }) => (metadata.namespace === undefined ? [] : [metadata.namespace]),
        ended: ({ metadata, spec }) =>
          Object.keys(spec.routes ?? {})
            .filter(isWorkflowSource)
            .map((source) => `${metadata.namespace}/${source}`),
      },
    }),
};

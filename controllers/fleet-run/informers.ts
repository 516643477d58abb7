import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { isWholeEdgeGroup, slimEdgeGroup } from '../../lib/edge/slim-edge-group.ts';
import { slimEdgeHost } from '../../lib/edge/slim-edge-host.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { createInformer, createWholeObjects, type Informer } from '../../lib/informer/index.ts';
import { edgeGroups, edgeHosts, fleetRuns } from '../../lib/kinds.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import type { InformerSpec } from '../runtime/module.ts';
import { withSpec } from '../runtime/with-spec.ts';

const byNamespace = { namespace: ({ metadata }: { metadata: { namespace?: string } }) => [metadata.namespace ?? ''] };

export const fleetRunInformer: InformerSpec<Informer<FleetRun>> = {
  name: 'fleetRuns',
  kind: 'FleetRun',
  open: (deps) => createInformer(deps, { resource: fleetRuns, parse: withSpec, strip: slimFleetRun }),
};

export const edgeHostInformer: InformerSpec<Informer<EdgeHost, 'namespace'>> = {
  name: 'edgeHosts',
  kind: 'EdgeHost',
  open: (deps) =>
    createInformer(deps, { resource: edgeHosts, parse: withSpec, strip: slimEdgeHost, indexes: byNamespace }),
};

/** Bytes of heap for whole groups: those used last spare a request. */
const keptBytes = bytesOf('whole edge groups');

/** Large groups have their names alone: a group in full is read by `use`. */
export const edgeGroupInformer: InformerSpec<Informer<EdgeGroup, 'namespace'>> = {
  name: 'edgeGroups',
  kind: 'EdgeGroup',
  open: (deps) =>
    createInformer(deps, {
      resource: edgeGroups,
      parse: withSpec,
      wholes: createWholeObjects({
        kube: deps.kube,
        clock: deps.clock,
        resource: edgeGroups,
        slim: slimEdgeGroup,
        isWhole: isWholeEdgeGroup,
        keptBytes,
      }),
      indexes: byNamespace,
    }),
};

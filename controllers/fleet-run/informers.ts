import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { slimFleetRun } from '../../lib/fleet/slim-fleet-run.ts';
import { createInformer, type Informer, stripStrangers } from '../../lib/informer/index.ts';
import { edgeGroups, edgeHosts, fleetRuns } from '../../lib/kinds.ts';
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
    createInformer(deps, { resource: edgeHosts, parse: withSpec, strip: stripStrangers, indexes: byNamespace }),
};

export const edgeGroupInformer: InformerSpec<Informer<EdgeGroup, 'namespace'>> = {
  name: 'edgeGroups',
  kind: 'EdgeGroup',
  open: (deps) =>
    createInformer(deps, { resource: edgeGroups, parse: withSpec, strip: stripStrangers, indexes: byNamespace }),
};

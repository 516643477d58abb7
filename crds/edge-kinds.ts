import { age, type KindDefinition, whyColumns } from './kind-definition.ts';
import { EdgeGroupSpec, EdgeGroupStatus } from './schema/edge-group.ts';
import { EdgeHostSpec, EdgeHostStatus } from './schema/edge-host.ts';
import { FleetRunSpec, FleetRunStatus } from './schema/fleet-run.ts';

export const edgeGroup: KindDefinition = {
  kind: 'EdgeGroup',
  singular: 'edgegroup',
  plural: 'edgegroups',
  shortNames: ['weg'],
  description:
    'Edge hosts by a selector and by name, as a target of fleet runs. Its members are resolved when it is read.',
  spec: EdgeGroupSpec,
  status: EdgeGroupStatus,
  columns: [{ name: 'Display', type: 'string', jsonPath: '.spec.name' }, age],
};

export const fleetRun: KindDefinition = {
  kind: 'FleetRun',
  singular: 'fleetrun',
  plural: 'fleetruns',
  shortNames: ['wfr'],
  description:
    'One tool over many edge hosts. Its targets are fixed at the start; it ends complete, halted, cancelled or refused.',
  spec: FleetRunSpec,
  status: FleetRunStatus,
  columns: [
    { name: 'Tool', type: 'string', jsonPath: '.spec.tool' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Outcome', type: 'string', jsonPath: '.status.outcome' },
    { name: 'Targets', type: 'integer', jsonPath: '.status.targets_resolved' },
    { name: 'OK', type: 'integer', jsonPath: '.status.summary.ok' },
    { name: 'Err', type: 'integer', jsonPath: '.status.summary.err' },
    age,
    { name: 'By', type: 'string', jsonPath: '.spec.requested_by', priority: 1 },
    ...whyColumns,
  ],
};

export const edgeHost: KindDefinition = {
  kind: 'EdgeHost',
  singular: 'edgehost',
  plural: 'edgehosts',
  shortNames: ['ehost'],
  description: 'A machine that an edge daemon enrolled. Its status is written by the relay that holds its stream.',
  spec: EdgeHostSpec,
  status: EdgeHostStatus,
  columns: [
    { name: 'Host', type: 'string', jsonPath: '.spec.name' },
    { name: 'Status', type: 'string', jsonPath: '.status.status' },
    { name: 'Since', type: 'date', jsonPath: '.status.since' },
    { name: 'OS', type: 'string', jsonPath: '.status.capabilities.os' },
    { name: 'Arch', type: 'string', jsonPath: '.status.capabilities.arch' },
    age,
    { name: 'Node', type: 'string', jsonPath: '.status.node_id', priority: 1 },
    { name: 'Tags', type: 'string', jsonPath: '.spec.tags', priority: 1 },
  ],
};

import { characters, entries, items, type LimitGroup, row } from './row.ts';

export const definition: LimitGroup = {
  title: 'A workflow',
  rows: [
    entries('`states`', 'states'),
    items('`transitions` of a state', 'transitionsPerState'),
    items('`steps` of a ParallelContainerRun', 'steps'),
    items('`agents` of a ParallelAgents', 'judges'),
    items('`volumes` of a container', 'volumes'),
    items('`storage.shared_volumes`', 'sharedVolumes'),
    items('`command`', 'commandElements'),
    entries('`env`, `context`, `output_template`', 'mapEntries'),
    entries('`labels` of a manifest, and `annotations`; those of an object of ours, beside our own', 'mapEntries'),
    entries('`finalizers` of an object of ours or of the pod of a step, beside our own', 'finalizers'),
    entries('`ownerReferences` of an object of ours or of the pod of a step', 'owners'),
    row(
      '`labels` and `annotations` of a manifest as JSON, where Kubernetes refuses one of them',
      'givenMetadataBytes',
      'bytes',
      'at most … are kept',
    ),
    row('`max_total_transitions`', 'transitionsMax', '', 'must be at most …, not …'),
    row('`max_state_visits`', 'stateVisitsMax', '', 'must be at most …, not …'),
    row('`retry.max_attempts`', 'retryAttemptsMax', '', 'must be at most …, not …'),
    row('`size_limit_mb` of a volume', 'volumeSizeMb', 'MiB', 'must be at most …, not …'),
    characters('Names of states, steps, volumes and sources', 'nameLength'),
    characters('A template', 'templateLength'),
    characters('`image`', 'imageReferenceLength'),
    characters('`resources.memory`', 'quantityLength'),
    row('Levels of a value in `context`', 'jsonDepth', 'levels', 'is nested deeper than … levels'),
  ],
};

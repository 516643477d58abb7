import { apiVersion, annotations as ourAnnotations } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';
import { defined } from '../defined.ts';
import { givenMetadata, objectMetadata } from './given-metadata.ts';
import { objectName, workflowName } from './object-name.ts';

/**
 * The custom resource of a manifest that satisfies its schema (requirements AMB-060, AMB-178). Nothing is lost: `toManifest` gives
 * the manifest back (an empty map of annotations counts as none).
 */
export function toCustomResource({ metadata, spec }: WorkflowManifest): Workflow {
  const { name, labels: givenLabels, annotations: givenNotes, ...moved } = metadata;
  const { labels, annotations } = objectMetadata(defined({ labels: givenLabels, annotations: givenNotes }));
  const resourceName = objectName(name);
  const named = resourceName === name ? annotations : { ...annotations, [ourAnnotations.name]: name };
  return {
    apiVersion,
    kind: 'Workflow',
    metadata: { name: resourceName, ...(labels && { labels }), ...(named && { annotations: named }) },
    spec: { ...moved, ...spec },
  };
}

/**
 * The manifest of a custom resource. Status and what the API server keeps in metadata (namespace, uid, …) are no part
 * of a definition and are left out; everything else comes back with `toCustomResource`.
 */
export function toManifest({ metadata, spec }: Pick<Workflow, 'metadata' | 'spec'>): WorkflowManifest {
  const name = workflowName(metadata);
  const isNoted = (key: string): boolean => key === ourAnnotations.name && name !== metadata.name;
  const { version, description, input_schema, output_schema, output_template, ...rest } = spec;
  const moved = { version, description, input_schema, output_schema, output_template };
  return {
    apiVersion,
    kind: 'Workflow',
    metadata: {
      name,
      ...defined(moved),
      ...givenMetadata(metadata, isNoted),
    },
    spec: rest,
  };
}

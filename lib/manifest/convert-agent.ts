import { apiVersion } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { FullAgentManifest } from '../../crds/schema/agent-manifest.ts';
import { defined } from '../defined.ts';
import { givenMetadata, objectMetadata } from './given-metadata.ts';

/** The custom resource of a manifest that satisfies its schema, its short forms written out. */
export function toAgent({ metadata, spec }: FullAgentManifest): Agent {
  const { name, labels: givenLabels, annotations: givenNotes, ...moved } = metadata;
  const { labels, annotations } = objectMetadata(defined({ labels: givenLabels, annotations: givenNotes }));
  return {
    apiVersion,
    kind: 'Agent',
    metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { ...moved, ...spec },
  };
}

const noted = /^(windlass\.dev|kubectl\.kubernetes\.io)\//;

/** The manifest as it was registered: status, and what Windlass and kubectl note on the object, are no part of it. */
export function toAgentManifest({ metadata, spec }: Pick<Agent, 'metadata' | 'spec'>): FullAgentManifest {
  const { version, description, ...rest } = spec;
  return {
    apiVersion,
    kind: 'Agent',
    metadata: {
      name: metadata.name,
      version,
      ...defined({ description }),
      ...givenMetadata(metadata, (key) => noted.test(key)),
    },
    spec: rest,
  };
}

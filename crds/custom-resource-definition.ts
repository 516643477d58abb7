import type { KindDefinition } from './kinds.ts';
import { group, version } from './labels.ts';
import { sourceOf } from './source-schema.ts';
import { toStructural } from './structural.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** The schema of a whole object: what the API server checks at every write. */
function objectSchema(kind: KindDefinition): StructuralSchema {
  return {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: {
        type: 'object',
        ...(kind.nameLength !== undefined && {
          properties: {
            name: { type: 'string', maxLength: kind.nameLength, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' },
          },
        }),
      },
      spec: { description: 'The wanted state.', ...toStructural(sourceOf(kind.spec)) },
      status: {
        description: 'The observed state; written by the controllers.',
        ...toStructural(sourceOf(kind.status)),
      },
    },
  };
}

/** The CustomResourceDefinition of a kind, as a plain object. */
export function customResourceDefinition(kind: KindDefinition): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${group}`, labels: { 'app.kubernetes.io/part-of': 'windlass' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        shortNames: kind.shortNames,
        categories: ['windlass'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: kind.columns,
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

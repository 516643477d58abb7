import { defineResource, type CustomResourceDefinition, type KubeObject } from '../../../../lib/kube/index.ts';

/** A kind that Windlass does not have: it greets a name with the words of its namespace. */
export interface Greeting extends KubeObject {
  readonly spec: { readonly name: string };
  readonly status?: { readonly text: string };
}

const [group, version, plural, kind] = ['test.windlass.dev', 'v1', 'greetings', 'Greeting'] as const;

export const greetings = defineResource<Greeting>({ group, version, plural, kind, namespaced: true });

export const greetingDefinition: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind, singular: 'greeting', listKind: 'GreetingList' },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

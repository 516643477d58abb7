import type { Resource } from './resource.ts';

/** The ways in which a PATCH may say what changes. */
export const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Media type that a call of `metadataOf` asks for; a server that does not know it answers whole objects. */
export function acceptOf({ metadataOnly }: Resource, answer: 'object' | 'list'): string | undefined {
  if (metadataOnly !== true) return undefined;
  const kind = answer === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
}

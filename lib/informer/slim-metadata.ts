import { annotations as notes, group, labels } from '../../crds/labels.ts';
import type { KubeObject, ObjectMeta } from '../kube/index.ts';

/** Metadata without what other people and programs have written, which is of any size. */
export function slimMetadata<M extends ObjectMeta>(metadata: M): M {
  const { labels: all, annotations, ownerReferences } = metadata;
  return {
    ...metadata,
    managedFields: undefined,
    labels: all && ours(all),
    annotations: annotations && ours(annotations),
    // A controller that is not ours tells that the object is not ours either.
    ownerReferences: ownerReferences?.filter(
      ({ apiVersion, controller }) => controller === true || apiVersion.startsWith(`${group}/`),
    ),
  };
}

/** For `strip` of an informer whose readers need nothing that others wrote on the object. */
export const stripStrangers = <T extends KubeObject>(object: T): T => ({
  ...object,
  metadata: slimMetadata(object.metadata),
});

const ours = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([key]) => (key.startsWith(`${group}/`) && key !== notes.given) || key === labels.managedBy,
    ),
  );

/** How a document writes a workflow: with version and schemas under `metadata` (spec 1 §2.6) or under `spec`. */
export type WorkflowForm = 'manifest' | 'resource';

/** Names of the forms in sentences. */
export const formNames: Readonly<Record<WorkflowForm, string>> = {
  manifest: 'manifest form',
  resource: 'custom resource form',
};

/** The form of a document that is valid, with what kubectl makes of it. */
export const formNotes: Readonly<Record<WorkflowForm, string>> = {
  manifest: `${formNames.manifest}; kubectl takes the ${formNames.resource} alone`,
  resource: formNames.resource,
};

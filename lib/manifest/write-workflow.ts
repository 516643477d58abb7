import { stringify } from 'yaml';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';

/** A workflow as YAML text; long strings keep their lines, and nothing is written as an alias. */
export const writeYaml = (workflow: Workflow | WorkflowManifest): string =>
  stringify(workflow, { lineWidth: 0, aliasDuplicateObjects: false });

import { stringify } from 'yaml';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowManifest } from '../../crds/schema/workflow-manifest.ts';

/**
 * A workflow as YAML text; long strings keep their lines, and nothing is written as an alias. Strings that YAML 1.1 takes
 * for something else, such as `no`, are quoted: that is how kubectl reads.
 */
export const writeYaml = (workflow: Workflow | WorkflowManifest): string =>
  stringify(workflow, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });

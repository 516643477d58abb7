import { Option } from 'commander';
import type { WorkflowScope } from '../../lib/workflow-lookup/scope.ts';

/** Written out here: what it is a part of would be loaded for `--help` otherwise. */
const scopes = ['user', 'tenant', 'global'] as const satisfies readonly WorkflowScope[];

export function scopeOption(description: string): Option {
  return new Option('--scope <scope>', description).choices(scopes);
}

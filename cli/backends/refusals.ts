import { CliError } from '../exit-codes.ts';
import type { BackendWords } from './backend.ts';

// Messages of both backends.

export function noExecution(nameOrUid: string, { place, flags }: BackendWords): CliError {
  return new CliError('not_found', `no execution '${nameOrUid}' ${place}`, `List what there is: windlass list${flags}`);
}

export function noWorkflow(nameOrUid: string, { workflowPlaces, flags }: BackendWords): CliError {
  const hint = `List what there is: windlass workflow list${flags}`;
  return new CliError('not_found', `no workflow '${nameOrUid}' ${workflowPlaces}`, hint);
}

export function noAgent(nameOrUid: string, { workflowPlaces, flags }: BackendWords): CliError {
  const hint = `List what there is: windlass agent list${flags}`;
  return new CliError('not_found', `no agent '${nameOrUid}' ${workflowPlaces}`, hint);
}

export function nameTaken(name: string): CliError {
  return new CliError('conflict', `there is an execution named ${name} already`, 'Choose another name with --name.');
}

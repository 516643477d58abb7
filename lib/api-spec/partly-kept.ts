import { apiSpecs, cliTools, toolWorkflows } from '../kinds.ts';
import { bytesOf } from '../memory-budget/index.ts';
import {
  isWholeApiSpec,
  isWholeCliTool,
  isWholeToolWorkflow,
  slimApiSpec,
  slimCliTool,
  slimToolWorkflow,
} from './slim.ts';

/** Bytes of heap for objects in full, of each kind: those used last spare a request. */
const keptBytes = bytesOf('whole tools');

/** Kinds that tools are made of, with the part that caches of any process keep of them (`createWholeObjects`). */
export const partlyKept = {
  /** Without documents. */
  ApiSpec: { resource: apiSpecs, slim: slimApiSpec, isWhole: isWholeApiSpec, keptBytes },
  /** With the number of their steps, and with their schemas where those are small. */
  ToolWorkflow: { resource: toolWorkflows, slim: slimToolWorkflow, isWhole: isWholeToolWorkflow, keptBytes },
  /** Large ones with their names and descriptions alone. */
  CliTool: { resource: cliTools, slim: slimCliTool, isWhole: isWholeCliTool, keptBytes },
} as const;

import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { openApiLimits } from '../../../lib/openapi-document/index.ts';
import { answerLimits } from '../../../lib/tool-chain/limits.ts';
import { characters, entries, items, type LimitGroup, row } from './row.ts';

/** Bytes of heap of a replica of the gateway, as the chart sets it (`charts/windlass/values.yaml`). */
const heapOfChart = 0.75 * 768 * 1_048_576;

export const tools: LimitGroup = {
  title: 'Tools that tenants register',
  rows: [
    items('`steps` of a ToolWorkflow', 'toolSteps'),
    row(
      '`body_template` of all steps together',
      'toolTemplatesLength',
      'characters',
      'the body templates of all steps have more than … characters',
    ),
    entries('`extractors` of a step', 'stepExtractors'),
    characters('The JSONPath of an extractor', 'extractorLength'),
    row(
      'Bodies and answers over 64 KiB of the signed calls of one tenant that are under way in a replica',
      Math.floor((bytesOf('signed calls', heapOfChart) * 4) / 5),
      'bytes',
      'large bodies and answers of the signed calls of one tenant have at most … bytes in a replica',
    ),
    row(
      'Memory that the values of a response take',
      answerLimits.heapBytes,
      'bytes',
      'the values of the response take more than … bytes of memory',
    ),
    row(
      'Memory that a call keeps between its steps: what it extracted, and a result before a step with `Continue`',
      answerLimits.keptBytes,
      'bytes',
      'what the call extracts takes more than … bytes of memory',
    ),
    row('n of `RetryN`', 'stepRetriesMax', '', 'with n from 0 to …'),
    characters('`operation_id`', 'operationIdLength'),
    row(
      'Objects of `input_schema` of a ToolWorkflow or CliTool, and as many lists and commas',
      'toolSchemaParts',
      '',
      'must have at most … objects, as many lists, and as many commas',
    ),
    characters('`server_url`, `token_url`, `audience`', 'apiUrlLength'),
    characters('`description` of a tool or an API', 'toolDescriptionLength'),
    row('`document` in an ApiSpec', 'apiDocumentInlineBytes', 'bytes', 'must have at most … characters'),
    row('A document, over HTTP', 'apiDocumentBytes', 'bytes', 'the document has … bytes; at most … are taken'),
    row(
      'Operation ids, paths and servers of a document, in memory',
      openApiLimits.indexBytes,
      'bytes',
      'take more than … bytes of memory',
    ),
    row(
      'Compressed documents of one tenant beside their objects',
      'apiDocumentsTenantBytes',
      'bytes',
      'the documents of this tenant would take … bytes; at most … are kept',
    ),
    items('ConfigMaps of one document', 'apiDocumentParts'),
    characters('`code` of a Script', 'scriptLength'),
    items('`tags` of a Script', 'scriptTags'),
    characters('`repo_url` of a GitBinding', 'gitUrlLength'),
    characters('`ref` of a GitBinding', 'gitRefLength'),
    characters('`request.message` of a GitBinding', 'gitMessageLength'),
    row('`depth` of a GitBinding', 'gitDepthMax', 'commits', 'must be at most …, not …'),
    row('`refresh_seconds` of a GitBinding, at least', 'gitRefreshSecondsMin', 's', 'must be at least …'),
    row('Name of a GitBinding', 'gitBindingNameLength', 'characters', 'label must have at most … characters'),
    row('Time of one call of a tool', 'toolCallSeconds', 's', 'the time of the call is up'),
    row('`timeout_seconds` of a CliTool', 'cliToolTimeoutSecondsMax', 's', 'must be at most …, not …'),
    items('`networks` of a SecurityContext', 'listedNetworks'),
    items('`ports` of one of the `networks`', 'listedPorts'),
    items('`git_secrets` of a SecurityContext', 'contextGitSecrets'),
    row(
      'Texts of the lists of a SecurityContext together',
      'contextTextsLength',
      'characters',
      'have more than … characters together',
    ),
    row(
      'Weight of each of these texts beside its length',
      'contextTextCharge',
      'characters',
      'where each text counts as … more',
    ),
    items('`files` of a CliTool', 'cliToolFiles'),
    characters('A path that a file tool takes', 'toolPathLength'),
    characters('`path` of a file of a CliTool', 'cliToolPathLength'),
  ],
};

import { stringify } from 'yaml';
import { openApiDocument } from '../../api/openapi/document.ts';
import { cliReference } from '../../cli/reference.ts';
import { admissionPolicies } from '../../crds/admission/policies.ts';
import { customResourceDefinition } from '../../crds/custom-resource-definition.ts';
import { kinds } from '../../crds/kinds.ts';
import { openApiDocument as gatewayDocument } from '../../gateway/openapi/document.ts';
import { apiReference, gatewayReference } from './api-reference.ts';
import { clientFile } from './client/client-file.ts';
import type { OpenApiDocument } from './client/operation.ts';
import { executionEventsPage } from './execution-events.ts';
import { jsonSchemas } from './json-schemas.ts';
import { limitsPage } from './limits-page.ts';
import { memoryPage } from './memory-page.ts';
import { referencePages } from './reference-pages.ts';
import { toolsPage } from './tools-page.ts';

const header = '# Generated from crds/ by "npm run generate". Change the sources there, not this file.\n';

const yaml = (...documents: object[]): string =>
  header +
  documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' }))
    .join('---\n');

const definitions = (): [string, string][] =>
  kinds.map((kind) => [`crds/generated/${kind.plural}.yaml`, yaml(customResourceDefinition(kind))]);

const policies = (): [string, string][] =>
  [...admissionPolicies()].map(([name, objects]) => [`crds/generated/admission/${name}.yaml`, yaml(...objects)]);

/** Every generated file by its path from the root of the repository. The same sources give the same bytes. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const document = `${JSON.stringify(openApiDocument(), null, 2)}\n`;
  const gateway = `${JSON.stringify(gatewayDocument(), null, 2)}\n`;
  return new Map([
    ...definitions(),
    ...policies(),
    ...jsonSchemas(),
    ...referencePages(),
    ['docs/reference/api.md', apiReference()],
    ['docs/reference/gateway-api.md', gatewayReference()],
    ['docs/reference/cli.md', cliReference()],
    ['docs/reference/execution-events.md', executionEventsPage()],
    ['docs/reference/limits.md', limitsPage()],
    ['docs/reference/memory.md', memoryPage()],
    ['docs/reference/tools.md', toolsPage()],
    ['api/generated/openapi.json', document],
    ['gateway/generated/openapi.json', gateway],
    // Made from the text, so that the clients are made of what every other generator sees.
    ['client/generated/operations.ts', clientFile(JSON.parse(document) as OpenApiDocument)],
    ['client/generated/gateway-operations.ts', clientFile(JSON.parse(gateway) as OpenApiDocument)],
  ]);
}

import { describe, expect, it } from 'vitest';
import { HttpError } from '../../lib/http/http-error.ts';
import { catalogue } from '../../lib/tools/catalogue/catalogue.ts';
import { isRefusal, type ToolArguments } from '../../lib/tools/tool.ts';
import { createToolbox } from '../../lib/tools/toolbox.ts';
import { aToolCaller } from '../../test/builders/tool-caller.ts';
import { createServiceToolsWorld } from '../../test/support/service-tools.ts';

const world = createServiceToolsWorld();

const rows = [...catalogue.values()].filter(({ name }) => name.startsWith('svc.'));
const operator = aToolCaller({ security: { tier: 'operator' } });

/** Something of the right type for every required argument. */
const argumentsOf = (name: string): ToolArguments => {
  const { properties = {}, required = [] } = catalogue.get(name)?.input_schema ?? {};
  const schemas = properties as Readonly<Record<string, { readonly type?: string }>>;
  const samples: Readonly<Record<string, unknown>> = { integer: 1, object: { All: null }, string: 'x' };
  return Object.fromEntries(required.map((field) => [field, samples[schemas[field]?.type ?? 'string']]));
};

const missing = rows.flatMap(({ name, input_schema: { required = [] } }) =>
  required.map((field): [string, string] => [name, field]),
);

describe('every tool of the platform', () => {
  it.each(missing)('TOOL-RULE-06 AMB-131 %s without %s is refused, and nothing runs', (name, field) => {
    const toolbox = createToolbox({ builtin_dispatchers: [] }, world.tools);
    for (const absent of [undefined, null]) {
      const args = { ...argumentsOf(name), [field]: absent };
      if (absent === undefined) delete args[field];
      const admitted = toolbox.admit(operator, name, args);
      expect(isRefusal(admitted) && admitted.message).toBe(
        `Invalid tool arguments: required field '${field}' is missing or null for tool '${name}'`,
      );
    }
    expect(world.calls).toEqual([]);
  });

  it.each(rows.map(({ name }) => name))('AMB-195 %s is refused where the context denies it', (name) => {
    const toolbox = createToolbox({ builtin_dispatchers: [] }, world.tools);
    const caller = aToolCaller({ security: { tier: 'operator', deny_list: [name] } });
    const admitted = toolbox.admit(caller, name, argumentsOf(name));
    expect(isRefusal(admitted) && admitted.code).toBe('ToolNotAllowed');
  });

  it.each(rows.filter(({ input_schema }) => input_schema.required?.length === 0).map(({ name }) => name))(
    'TOOL-RULE-07 %s takes any object',
    (name) => {
      const toolbox = createToolbox({ builtin_dispatchers: [] }, world.tools);
      for (const args of [{}, { further: [1] }]) expect(isRefusal(toolbox.admit(operator, name, args))).toBe(false);
    },
  );
});

/** Tools that ask no operation before they answer. */
const own = new Set([
  'svc.schema.get',
  'svc.schema.validate',
  'svc.workflow.validate',
  'svc.tools.list',
  'svc.tools.search',
  'svc.system.info',
  'svc.system.config',
  'svc.runtime.list',
  'svc.volume.create',
  'svc.volume.quota',
]);
/** Tools over objects of their own. */
const ofObjects = /^svc\.(script|git)\./;

describe('what an operation refuses', () => {
  const asking = rows.filter(({ name }) => Object.hasOwn(world.tools, name) && !own.has(name) && !ofObjects.test(name));
  it.each(asking.map(({ name }) => name))('AMB-130 AMB-194 %s answers as an error of its own', async (name) => {
    world.give = () => {
      throw new HttpError({ code: 'forbidden', message: 'not yours' });
    };
    const args = { ...argumentsOf(name), ...(name.endsWith('mote') ? { name: 'x' } : {}), agent_id: 'coder' };
    expect(await world.run(name, args)).toEqual({ isError: true, content: 'PERMISSION_DENIED: not yours' });
    world.calls.splice(0);
  });
});

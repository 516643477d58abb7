import { describe, expect, it } from 'vitest';
import { AppError } from '../errors.ts';
import { createFleetCapable, readRegisteredToolQuery } from './fleet-capable.ts';

/** The gateway's answer, or what the bus throws. */
const capableAt = (answer: () => unknown) => {
  const asked: unknown[] = [];
  const request = async (_address: unknown, body: string | Uint8Array) => {
    asked.push(readRegisteredToolQuery(Buffer.from(body)));
    return Buffer.from(JSON.stringify(answer()));
  };
  return { asked, capable: createFleetCapable({ bus: { request } }) };
};
const fails = (error: AppError) => (): never => {
  throw error;
};

describe('whether a fleet can run a tool', () => {
  it.each([
    ['cmd.run', true],
    ['web.fetch', true],
    ['svc.volume.list', false],
  ])('AMB-108 EDGE-TOOL-05 is in the catalogue for %s: %s', async (tool, want) => {
    const { capable, asked } = capableAt(fails(new AppError('unavailable', 'away')));
    expect([await capable('acme', tool), asked]).toEqual([want, []]);
  });

  it.each([
    ['a registered tool that cannot', { fleet_capable: false }, false],
    ['a registered tool that can', { fleet_capable: true }, true],
    ['a name that is not registered', {}, true],
  ])('AMB-108 EDGE-TOOL-06 is asked of the gateway for %s', async (_what, facts, want) => {
    const { capable, asked } = capableAt(() => facts);
    expect(await capable('acme', 'a.b')).toBe(want);
    expect(asked).toEqual([{ tenant: 'acme', tool: 'a.b' }]);
  });

  it('AMB-108 is yes for other names where no gateway runs, and unknown while one does not answer', async () => {
    const none = capableAt(fails(new AppError('unavailable', 'no responders', { reason: 'NoResponders' })));
    expect(await none.capable('acme', 'a.b')).toBe(true);
    const late = capableAt(fails(new AppError('timeout', 'late')));
    await expect(late.capable('acme', 'a.b')).rejects.toMatchObject({
      code: 'unavailable',
      reason: 'GatewayUnavailable',
    });
  });
});
